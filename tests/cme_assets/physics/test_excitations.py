"""RIXS excitations against operator algebra, sum rules and limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from cme_assets.physics.constants import BOLTZMANN
from cme_assets.physics.excitations import (
    MAGNON_RENORMALISATION,
    acoustic_plasmon_velocity,
    franck_condon_overlaps,
    magnon_energy,
    magnon_weight,
    phonon_ladder,
    plasmon_energy,
    scattering,
    square_lattice_factor,
)
from cme_assets.physics.spectral import damped_oscillator


def _displacement_operator(g: float, size: int) -> np.ndarray:
    """exp(sqrt(g) (b^+ - b)) in a basis large enough that its upper corner is exact."""
    lowering = np.diag(np.sqrt(np.arange(1, size)), 1)
    return expm(np.sqrt(g) * (lowering.T - lowering))


@pytest.mark.parametrize("g", [0.3, 1.7, 4.0])
def test_overlaps_are_the_displacement_operator(g: float) -> None:
    np.testing.assert_allclose(franck_condon_overlaps(g, 12), _displacement_operator(g, 120)[:12, :12], atol=1e-9)


@given(g=st.floats(0.05, 4.0))
@settings(max_examples=25, deadline=None)
def test_overlaps_are_complete(g: float) -> None:
    overlaps = franck_condon_overlaps(g, 60)
    np.testing.assert_allclose((overlaps**2).sum(axis=0)[:10], 1.0, atol=1e-8)
    np.testing.assert_allclose(overlaps[0, :3] ** 2, np.exp(-g) * g ** np.arange(3) / [1, 1, 2], atol=1e-12)


@given(g=st.floats(0.3, 4.0), phonon=st.floats(0.06, 0.10), core=st.floats(0.15, 0.30))
@settings(max_examples=20, deadline=None)
def test_ladder_is_the_resolvent_of_the_displaced_oscillator(g: float, phonon: float, core: float) -> None:
    """The amplitude is <n| (det + i G_c + g w - w b~^+ b~)^-1 |0> with b~ = b - sqrt(g), as an operator inverse."""
    size = 120
    lowering = np.diag(np.sqrt(np.arange(1, size)), 1) - np.sqrt(g) * np.eye(size)
    resolvent = np.linalg.inv((g * phonon + 1j * core) * np.eye(size) - phonon * lowering.T @ lowering)
    expected = np.abs(resolvent[1:6, 0]) ** 2
    np.testing.assert_allclose(phonon_ladder(5, g, phonon, core, 0.0), expected, rtol=1e-4, atol=1e-9)


def test_a_short_lived_core_hole_excites_one_phonon_in_proportion_to_the_coupling() -> None:
    weak = phonon_ladder(3, 0.01, 0.08, 5.0, 0.0)
    strong = phonon_ladder(3, 0.04, 0.08, 5.0, 0.0)
    assert strong[0] / weak[0] == pytest.approx(4.0, rel=1e-3)
    assert weak[1] < 1e-3 * weak[0]


def test_magnon() -> None:
    exchange = 0.12
    boundary = square_lattice_factor(np.array([0.5]), np.array([0.0]))
    corner = square_lattice_factor(np.array([0.0, 0.5]), np.array([0.0, 0.5]))
    assert magnon_energy(boundary, exchange)[0] == pytest.approx(2 * MAGNON_RENORMALISATION * exchange)
    np.testing.assert_allclose(magnon_energy(corner, exchange), 0.0, atol=1e-12)
    small = square_lattice_factor(np.array([1e-5, 1e-4]), np.zeros(2))
    assert magnon_weight(small)[1] / magnon_weight(small)[0] == pytest.approx(10.0, rel=1e-3)


@given(w=st.floats(0.005, 0.5), w0=st.floats(0.02, 0.5), g=st.floats(0.01, 0.3), t=st.floats(15.0, 300.0))
def test_oscillator_is_odd_and_in_detailed_balance(w: float, w0: float, g: float, t: float) -> None:
    energy = np.array([w, -w])
    response = damped_oscillator(energy, w0, g)
    assert response[1] == pytest.approx(-response[0])
    gain = scattering(energy, np.float64(w0), g, t)
    assert gain[1] == pytest.approx(gain[0] * np.exp(-w / (BOLTZMANN * t)), rel=1e-9, abs=1e-300)


def test_scattering_is_smooth_through_zero_loss() -> None:
    values = scattering(np.array([-1e-7, 0.0, 1e-7]), np.float64(0.1), 0.03, 20.0)
    np.testing.assert_allclose(values, values[1], rtol=1e-4, atol=1e-9)


def test_plasmon_limits() -> None:
    strength, spacing = 2.5, 9.0
    q = np.array([1e-4])
    for phase in (0.4 * np.pi, 0.8 * np.pi):
        expected = q * np.sqrt(strength * spacing / (1 - np.cos(phase)))
        np.testing.assert_allclose(plasmon_energy(q, strength, spacing, phase), expected, rtol=1e-4)
    assert plasmon_energy(q, strength, spacing, 0.0)[0] == pytest.approx(np.sqrt(2 * strength / spacing), rel=1e-4)
    slope = plasmon_energy(q, strength, spacing, np.pi)[0] / q[0]
    assert slope == pytest.approx(acoustic_plasmon_velocity(strength, spacing), rel=1e-4)
