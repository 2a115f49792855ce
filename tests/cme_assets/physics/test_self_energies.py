"""Self-energies are causal, obey Kramers-Kronig, conserve spectral weight and meet their textbook limits."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from cme_assets.physics.constants import BOLTZMANN
from cme_assets.physics.self_energies import (
    debye,
    einstein,
    fermi_liquid,
    impurity,
    marginal_fermi_liquid,
    norman_pairing,
)
from cme_assets.physics.spectral import spectral_function
from cme_assets.physics.thermal import bose, fermi

COLD = 1e-3
"""A temperature so low, in K, that thermal energies vanish."""

MODELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "impurity": lambda w: impurity(w, 0.02),
    "marginal": lambda w: marginal_fermi_liquid(w, 0.2, 0.5, 20.0) + impurity(w, 0.005),
    "einstein": lambda w: einstein(w, 1.0, 0.05) + impurity(w, 0.005),
    "debye": lambda w: debye(w, 1.5, 0.06, 15.0) + impurity(w, 0.01),
    "norman": lambda w: norman_pairing(w, np.float64(-0.03), 0.03, 0.03, 0.002),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("band", [-0.1, 0.0, 0.05])
def test_spectral_weight_is_one(name: str, band: float) -> None:
    side = np.sinh(np.linspace(0.0, np.arcsinh(1e4 / 1e-4), 6_000)) * 1e-4
    energy = np.concatenate([-side[:0:-1], side])
    weight = np.trapezoid(spectral_function(energy, np.float64(band), MODELS[name](energy)), energy)
    assert weight == pytest.approx(1.0, abs=1e-3)


@given(
    w=st.floats(-0.4, 0.4),
    coupling=st.floats(0.1, 5.0),
    mode=st.floats(0.02, 0.12),
    temperature=st.floats(5.0, 300.0),
)
@settings(max_examples=60, deadline=None)
def test_every_self_energy_is_causal(w: float, coupling: float, mode: float, temperature: float) -> None:
    energy = np.array([w])
    for sigma in (
        impurity(energy, mode),
        fermi_liquid(energy, coupling, temperature),
        marginal_fermi_liquid(energy, coupling, 0.5, temperature),
        einstein(energy, coupling, mode),
        debye(energy, coupling, mode, temperature),
        norman_pairing(energy, np.float64(coupling - 2.0), mode, mode, 0.002),
    ):
        assert sigma.imag[0] <= 0.0


def _principal_value(imaginary: Callable[[float], float], w: float, edge: float) -> float:
    """`(1/pi) P int S''(x)/(x - w) dx` of an imaginary part that is constant beyond +-edge.

    The constant is taken off, for its principal value over all energies is zero.
    """
    constant = imaginary(2.0 * edge)
    reach = max(edge, 2.0 * abs(w))
    value, _ = quad(lambda x: imaginary(x) - constant, -reach, reach, weight="cauchy", wvar=w, limit=800)
    return value / np.pi


@pytest.mark.parametrize("w", [-0.31, -0.07, 0.013, 0.12])
@pytest.mark.parametrize(
    ("model", "edge"),
    [
        (lambda x: marginal_fermi_liquid(x, 0.3, 0.5, 100.0), 0.5),
        (lambda x: einstein(x, 1.2, 0.06), 0.06 * (1 + 1e-9)),
        (lambda x: debye(x, 1.2, 0.06, 150.0), 1.5),
    ],
)
def test_kramers_kronig(model: Callable[[np.ndarray], np.ndarray], edge: float, w: float) -> None:
    expected = _principal_value(lambda x: float(model(np.array([x])).imag[0]), w, edge)
    assert model(np.array([w])).real[0] == pytest.approx(expected, abs=2e-5)


def test_kramers_kronig_of_the_pairing_term() -> None:
    # D^2/(w + e + i Gp) has one pole below the axis; its real part is the transform of its imaginary part.
    energy = np.linspace(-40.0, 40.0, 800_001)
    sigma = norman_pairing(energy, np.float64(0.02), 0.0, 0.03, 0.05)
    for w in (-0.2, -0.02, 0.1):
        place = np.argmin(np.abs(energy - w))
        shifted = energy - energy[place]
        with np.errstate(divide="ignore", invalid="ignore"):
            kernel = np.where(shifted == 0.0, 0.0, (sigma.imag - sigma.imag[place]) / shifted)
        value = np.trapezoid(kernel, energy) / np.pi
        assert value == pytest.approx(sigma.real[place], abs=1e-4)


@given(w=st.floats(-0.2, 0.2), mode=st.floats(0.02, 0.12), temperature=st.floats(10.0, 100.0))
@settings(max_examples=25, deadline=None)
def test_debye_imaginary_part_is_the_golden_rule(w: float, mode: float, temperature: float) -> None:
    def rate(boson: float) -> float:
        thermal = 1 + 2 * bose(boson, temperature) + fermi(w + boson, temperature) - fermi(w - boson, temperature)
        return float((boson / mode) ** 2 * thermal)

    step = [abs(w)] if 1e-3 < abs(w) < 0.999 * mode else None
    expected, _ = quad(rate, 1e-9, mode, points=step, limit=400)
    assert debye(np.array([w]), 1.0, mode, temperature).imag[0] == pytest.approx(-np.pi * expected, abs=1e-6)


def test_debye_at_zero_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cme_assets.physics.self_energies.DEBYE_QUADRATURE_NODES", 1000)
    coupling, mode = 1.3, 0.07
    w = np.array([-0.15, -0.05, -0.02, 0.03, 0.2])
    sigma = debye(w, coupling, mode, 1.0)
    expected = -np.pi * coupling / 3.0 * np.minimum(np.abs(w), mode) ** 3 / mode**2
    np.testing.assert_allclose(sigma.imag, expected, atol=1e-4)
    for energy, real in zip(w, sigma.real, strict=True):
        value, _ = quad(
            lambda o, e=energy: (o / mode) ** 2 * np.log(abs((e + o) / (e - o))),
            0.0,
            mode,
            points=[min(abs(energy), mode)],
            limit=400,
        )
        assert real == pytest.approx(-coupling * value, abs=3e-4)


@pytest.mark.parametrize("mode", [0.02, 0.075, 0.12])
def test_debye_quadrature_is_converged(mode: float, monkeypatch: pytest.MonkeyPatch) -> None:
    w = np.linspace(-0.3, 0.1, 400)
    coarse = debye(w, 1.0, mode, 10.0)
    monkeypatch.setattr("cme_assets.physics.self_energies.DEBYE_QUADRATURE_NODES", 700)
    np.testing.assert_allclose(coarse, debye(w, 1.0, mode, 10.0), atol=1e-6 * mode)


def test_mass_enhancement_is_the_coupling() -> None:
    step = 1e-4
    for sigma in (lambda w: debye(w, 0.8, 0.05, 0.5), lambda w: einstein(w, 0.8, 0.05)):
        low, high = sigma(np.array([-step, step])).real
        assert -(high - low) / (2 * step) == pytest.approx(0.8, rel=1e-3)


def test_saturation_of_the_phonon_rates() -> None:
    far = np.array([-3.0])
    assert debye(far, 0.7, 0.05, COLD).imag[0] == pytest.approx(-np.pi * 0.7 * 0.05 / 3.0, rel=1e-6)
    assert einstein(far, 0.7, 0.05).imag[0] == pytest.approx(-np.pi * 0.7 * 0.05 / 2.0)


def test_widths_of_the_textbook_liquids() -> None:
    velocity, strength, temperature = 1.5, 1.2, 20.0
    at_zero = fermi_liquid(np.zeros(1), strength, temperature).imag[0]
    assert 2 * abs(at_zero) / velocity == pytest.approx(
        2 * strength * (np.pi * BOLTZMANN * temperature) ** 2 / velocity
    )
    w = np.array([-0.10, -0.05])
    widths = 2 * np.abs(marginal_fermi_liquid(w, 0.2, 0.5, temperature).imag) / velocity
    assert (widths[0] - widths[1]) / 0.05 == pytest.approx(2 * 0.2 / velocity)


def test_gap_opens_symmetrically_at_the_fermi_momentum() -> None:
    gap, tiny = 0.03, 1e-4
    energy = np.linspace(-0.1, 0.1, 400_001)
    spectrum = spectral_function(energy, np.float64(0.0), norman_pairing(energy, np.float64(0.0), tiny, gap, tiny))
    below, above = energy < 0, energy > 0
    assert energy[below][np.argmax(spectrum[below])] == pytest.approx(-gap, abs=1e-5)
    assert energy[above][np.argmax(spectrum[above])] == pytest.approx(gap, abs=1e-5)
    assert np.trapezoid(spectrum[below], energy[below]) == pytest.approx(
        np.trapezoid(spectrum[above], energy[above]), rel=1e-6
    )


def test_no_gap_is_the_normal_state() -> None:
    energy = np.linspace(-0.1, 0.1, 101)
    closed = norman_pairing(energy, np.float64(-0.02), 0.03, 1e-9, 0.002)
    np.testing.assert_allclose(closed, impurity(energy, 0.03), atol=1e-12)


def test_real_parts_are_odd() -> None:
    w = np.linspace(0.003, 0.3, 100)
    for sigma in (
        lambda x: marginal_fermi_liquid(x, 0.2, 0.5, 20.0),
        lambda x: einstein(x, 1.0, 0.05),
        lambda x: debye(x, 1.0, 0.05, 20.0),
    ):
        np.testing.assert_allclose(sigma(w).real, -sigma(-w).real, atol=1e-12)
        np.testing.assert_allclose(sigma(w).imag, sigma(-w).imag, atol=1e-12)
