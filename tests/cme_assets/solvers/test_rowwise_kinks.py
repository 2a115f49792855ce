"""Mode energies from bands kinked by Debye spectra at T = 0, in closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, voigt_profile

from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws as solve
from cme_assets.solvers.rowwise.kinks import Coupling, Rows, find_modes, fit_modes
from cme_assets.solvers.rowwise.phonons import debye_parts

KELVIN = 8.617333262e-5
FERMI = 4.0
VELOCITY = 2.5
ENERGY = FERMI - 0.22 + 0.0027 * (np.arange(100) + 0.6)
W = ENERGY - FERMI
K = np.linspace(-0.35, 0.35, 101)[:-1] + 0.0035


def real_part(w: Array, cutoff: float) -> Array:
    """`-(1/W^2) int_0^W O^2 ln|(O + w)/(O - w)| dO`, the partner of the cubic rate below (T = 0, coupling one)."""
    near = np.log(np.abs((w + cutoff) / (w - cutoff)))
    return -(cutoff**3 * near + w * cutoff**2 + w**3 * np.log(np.abs(1.0 - (cutoff / w) ** 2))) / (3.0 * cutoff**2)


def rate(w: Array, cutoff: float) -> Array:
    return np.pi / 3.0 * np.minimum(np.abs(w), cutoff) ** 3 / cutoff**2


def kinked_map(cutoffs: tuple[float, ...], coupling: float) -> Array:
    real = coupling * sum(real_part(W, cutoff) for cutoff in cutoffs)
    imaginary = 0.02 + coupling * sum(rate(W, cutoff) for cutoff in cutoffs)
    momentum = -0.02 + (W - real) / VELOCITY
    seen = np.hypot(0.005 / 2.3548, 0.0014 / VELOCITY)
    lines = voigt_profile(K[None, :] - momentum[:, None], seen, imaginary[:, None] / VELOCITY)
    return (lines + 0.02 * lines.max()) * expit(-W / (15.0 * KELVIN))[:, None]


def test_the_tabulated_debye_spectrum_tends_to_its_cold_limit() -> None:
    w = np.array([-0.2, -0.15, -0.1, -0.025])
    found_real, found_rate = debye_parts(w, 0.05)
    assert found_rate == pytest.approx(rate(w, 0.05), rel=0.06)
    assert found_real == pytest.approx(real_part(w, 0.05), rel=0.06)


@pytest.mark.parametrize(("category", "coupling"), [("D1", 0.5), ("D3", 1.0), ("D4", 2.0)])
def test_one_mode(pose_map: Callable, category: str, coupling: float) -> None:
    problem = pose_map(category, ENERGY, K, kinked_map((0.0473,), coupling), FERMI, (0.0473,))
    assert solve(problem) == pytest.approx([0.0473], abs=0.0015)


def test_a_band_that_falls_is_mirrored(pose_map: Callable) -> None:
    problem = pose_map("D2", ENERGY, -K[::-1], kinked_map((0.0355,), 0.75)[:, ::-1], FERMI, (0.0355,))
    assert solve(problem) == pytest.approx([0.0355], abs=0.0015)


def test_two_modes_in_increasing_order(pose_map: Callable) -> None:
    problem = pose_map("D6", ENERGY, K, kinked_map((0.035, 0.090), 0.8), FERMI, (0.035, 0.090))
    assert solve(problem) == pytest.approx([0.035, 0.090], abs=0.004)


def test_exact_rows_give_back_three_modes_and_their_couplings() -> None:
    cutoffs, couplings = np.array([0.030, 0.062, 0.105]), (0.6, 1.0, 0.8)
    w = np.linspace(-0.24, -0.002, 80)
    parts = [debye_parts(w, cutoff) for cutoff in cutoffs]
    momentum = 1.0 + (w - sum(c * real for c, (real, _) in zip(couplings, parts, strict=True))) / 3.0
    hwhm = (0.02 + 0.3 * w**2 + sum(c * part for c, (_, part) in zip(couplings, parts, strict=True))) / 3.0
    rows = Rows(w, momentum, np.full(80, 0.001), hwhm, np.full(80, 0.001))
    assert fit_modes(rows, cutoffs).couplings == pytest.approx(couplings, rel=1e-3)
    assert find_modes(rows, 3, None) == pytest.approx(cutoffs, abs=1e-3)


@pytest.mark.parametrize("modes", [1, 2, 3])
def test_rows_near_the_fermi_level_alone_leave_room_for_all_modes(modes: int) -> None:
    w = np.linspace(-0.012, -0.001, 11)
    rows = Rows(w, 1.0 + w / 3.0, np.full(11, 0.001), np.full(11, 0.01), np.full(11, 0.001))
    found = find_modes(rows, modes, None)
    assert found.shape == (modes,)
    assert np.isfinite(found).all()


def test_the_examples_couplings_hold_back_a_fit_that_knows_nothing() -> None:
    w = np.linspace(-0.2, -0.002, 60)
    rows = Rows(w, 1.0 + w / 3.0, np.full(60, 10.0), np.full(60, 0.01), np.full(60, 10.0))
    found = fit_modes(rows, np.array([0.05]), Coupling(1.0, 0.1)).couplings
    assert found == pytest.approx([1.0], abs=0.05)


@pytest.mark.parametrize(("category", "count"), [("D1", 1), ("D6", 2), ("D7", 3)])
def test_nothing_to_be_found_gives_finite_energies(
    pose_map: Callable, pointless_map: Array, category: str, count: int
) -> None:
    answer = (0.03, 0.06, 0.10)[:count]
    found = solve(pose_map(category, ENERGY, K, pointless_map, FERMI, answer))
    assert len(found) == count
    assert np.isfinite(found).all()
