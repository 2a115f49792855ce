"""Line fits against scipy's Voigt profile, and bands whose momenta are written down."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, voigt_profile

from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws as solve
from cme_assets.solvers.rowwise.lines import NO_LINE, fit_line, instrument_sigma, voigt

KELVIN = 8.617333262e-5
SIGMA = 0.005 / 2.3548200450309493
FERMI = 7.0
ENERGY = FERMI - 0.25 + 0.0033 * (np.arange(100) + 0.4)
BELOW = ENERGY < FERMI
K = np.linspace(-0.4, 0.4, 101)[:-1] + 0.004


def band_map(momentum: Array, hwhm: float = 0.03) -> Array:
    """Lorentzian rows at `momentum` (n,), broadened by the momentum kernel, cut off at 20 K, on a background."""
    lines = voigt_profile(K[None, :] - momentum[:, None], SIGMA, hwhm)
    return (lines + 0.02 * lines.max()) * expit(-(ENERGY - FERMI) / (20.0 * KELVIN))[:, None]


@pytest.mark.parametrize("fwhm", [0.004, 0.02, 0.1])
@pytest.mark.parametrize("sigma", [0.002, 0.006])
def test_the_line_is_scipys_voigt_profile(fwhm: float, sigma: float) -> None:
    expected = voigt_profile(K - 0.0123, sigma, 0.5 * fwhm) / voigt_profile(0.0, sigma, 0.5 * fwhm)
    assert voigt(K, 0.0123, fwhm, sigma) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("fwhm", [0.02, 0.05, 0.15])
def test_an_exact_voigt_gives_back_center_and_width(fwhm: float) -> None:
    curve = 3.0 + 12.0 * voigt_profile(K + 0.0217, 0.006, 0.5 * fwhm)
    fit = fit_line(K, curve, 0.006, 0.0, 0.04)
    assert fit.center == pytest.approx(-0.0217, abs=1e-8)
    assert fit.fwhm == pytest.approx(fwhm, rel=1e-6)
    assert fit.offset == pytest.approx(3.0, rel=1e-6)


def test_a_pure_lorentzian_needs_no_instrument() -> None:
    curve = 5.0 / (1.0 + ((K - 0.1) / 0.025) ** 2)
    fit = fit_line(K, curve, 1e-5, 0.08, 0.03)
    assert (fit.center, fit.fwhm, fit.height) == pytest.approx((0.1, 0.05, 5.0), rel=1e-3)


def test_errors_are_those_of_independent_noise() -> None:
    rng = np.random.default_rng(11)
    clean = 100.0 * voigt(K, 0.02, 0.06, 0.004)
    fits = [fit_line(K, clean + rng.normal(0.0, 5.0, K.size), 0.004, 0.0, 0.05) for _ in range(100)]
    assert 0.8 < np.std([(fit.center - 0.02) / fit.center_error for fit in fits]) < 1.25
    assert 0.8 < np.std([(fit.fwhm - 0.06) / fit.fwhm_error for fit in fits]) < 1.25


@pytest.mark.parametrize("curve", [np.zeros(100), np.full(100, 9.0), np.full(100, np.nan)])
def test_no_line_in_a_curve_without_one(curve: Array) -> None:
    assert fit_line(K, curve, 0.005, 0.0, 0.05) == NO_LINE
    assert not NO_LINE.valid


def test_the_instrument_adds_the_pixel_in_quadrature() -> None:
    assert instrument_sigma(0.005, 0.0) == pytest.approx(SIGMA)
    assert instrument_sigma(0.0, 0.012) == pytest.approx(0.012 / np.sqrt(12.0))


@pytest.mark.parametrize("velocity", [1.5, -0.9])
def test_a_straight_band(pose_map: Callable, velocity: float) -> None:
    momentum = 0.05 + (ENERGY - FERMI) / velocity
    intensity = band_map(momentum)
    assert solve(pose_map("B1", ENERGY, K, intensity, FERMI)) == pytest.approx(momentum[BELOW], abs=5e-4)
    assert solve(pose_map("B2", ENERGY, K, intensity, FERMI, (1.0,))) == pytest.approx([velocity], rel=0.01)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_curved_band_and_its_slope_at_the_fermi_level(pose_map: Callable, direction: float) -> None:
    # w = 1.6 u + 1.2 u^2 solved for the branch through u = 0.
    u = (-1.6 + np.sqrt(1.6**2 + 4.8 * (ENERGY - FERMI))) / 2.4
    momentum = 0.03 + direction * u
    intensity = band_map(momentum)
    assert solve(pose_map("B3", ENERGY, K, intensity, FERMI)) == pytest.approx(momentum[BELOW], abs=1e-3)
    assert solve(pose_map("B4", ENERGY, K, intensity, FERMI, (1.0,))) == pytest.approx([direction * 1.6], rel=0.03)


def test_copies_of_a_band_do_not_move_it(pose_map: Callable) -> None:
    momentum = 0.04 + (ENERGY - FERMI) / 1.8
    copies = [0.5 ** abs(n) * band_map(momentum + 0.11 * n, 0.02) for n in range(-4, 5)]
    intensity = np.sum(copies, axis=0)
    assert solve(pose_map("B5", ENERGY, K, intensity, FERMI)) == pytest.approx(momentum[BELOW], abs=2e-3)
    assert solve(pose_map("B6", ENERGY, K, intensity, FERMI, (1.0,))) == pytest.approx([1.8], rel=0.03)


def test_a_few_spoilt_rows_do_not_move_the_band(pose_map: Callable) -> None:
    momentum = -0.02 + (ENERGY - FERMI) / 1.2
    intensity = band_map(momentum)
    intensity[[10, 33, 34, 60]] = 0.0
    intensity[20] = np.roll(intensity[20], 30)
    assert solve(pose_map("B1", ENERGY, K, intensity, FERMI)) == pytest.approx(momentum[BELOW], abs=1e-3)


@pytest.mark.parametrize("category", ["B1", "B2", "B3", "B4", "B5", "B6"])
def test_nothing_to_be_found_gives_a_finite_answer(pose_map: Callable, pointless_map: Array, category: str) -> None:
    answer = (1.0,) if category in ("B2", "B4", "B6") else None
    problem = pose_map(category, ENERGY, K, pointless_map, FERMI, answer)
    found = solve(problem)
    assert len(found) == problem.wanted
    assert np.isfinite(found).all()
