"""Bands meet their inverses and eigenvalues; Fermi surfaces their areas and symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import voigt_profile
from skimage.measure import find_contours

from cme_assets.physics import bands
from cme_assets.physics.fermi_surfaces import (
    bilayer_splitting,
    chemical_potential_for,
    doping,
    occupied_fraction,
    one_band,
    ruthenate_xz_yz,
)
from cme_assets.physics.spectral import damped_oscillator, gaussian, lorentzian, voigt_fwhm


@given(v=st.floats(0.8, 3.0), c=st.floats(-3.0, 3.0), w=st.floats(-0.1, 0.1), direction=st.sampled_from([-1.0, 1.0]))
def test_quadratic_band_and_its_inverse(v: float, c: float, w: float, direction: float) -> None:
    if v**2 + 4 * c * w <= 0:
        return
    k = bands.quadratic_momentum(np.array([w]), v, c, 0.3, direction)
    assert bands.quadratic(k, v, c, 0.3, direction)[0] == pytest.approx(w, abs=1e-9)


def test_quadratic_momentum_tends_to_the_linear_one() -> None:
    w = np.linspace(-0.2, 0.1, 7)
    np.testing.assert_allclose(bands.quadratic_momentum(w, 1.5, 1e-12, 0.3, 1.0), 0.3 + w / 1.5, atol=1e-12)
    assert np.isnan(bands.quadratic_momentum(np.array([-0.25]), 0.8, 3.0, 0.0, 1.0)[0])


def test_rashba_minimum() -> None:
    k = np.linspace(-1, 1, 200_001)
    lower, upper = bands.rashba(k, -0.05, 3.81, 0.9, 0.1)
    assert lower.min() == pytest.approx(-0.05 - 0.9**2 / (4 * 3.81), abs=1e-9)
    assert upper.min() == pytest.approx(-0.05, abs=1e-5)


@given(first=st.floats(-0.5, 0.5), second=st.floats(-0.5, 0.5), coupling=st.floats(1e-4, 0.1))
def test_hybridised_bands_are_the_eigenvalues(first: float, second: float, coupling: float) -> None:
    values, vectors = np.linalg.eigh([[first, coupling], [coupling, second]])
    lower, upper, lower_weight, upper_weight = bands.hybridised(np.float64(first), np.float64(second), coupling)
    np.testing.assert_allclose([lower, upper], values, atol=1e-12)
    np.testing.assert_allclose([lower_weight, upper_weight], vectors[0] ** 2, atol=1e-9)


def test_massive_dirac_gap() -> None:
    lower, upper = bands.dirac(np.array([0.2]), -0.1, 1.5, 0.008, 0.2)
    assert upper[0] - lower[0] == pytest.approx(0.016)


def test_half_filling_has_no_doping() -> None:
    filled = occupied_fraction(lambda kx, ky: one_band(kx, ky, 0.3, 0.0, 0.0, 0.0))
    assert doping(filled) == pytest.approx(0.0, abs=3e-5)


@given(scale=st.floats(0.1, 10.0), p=st.floats(0.0, 0.35))
@settings(max_examples=10, deadline=None)
def test_doping_does_not_know_the_energy_scale(scale: float, p: float) -> None:
    mu = chemical_potential_for(lambda m: lambda kx, ky: one_band(kx, ky, 0.3, -0.09, 0.03, m), p, -2.0, 2.0)
    original = occupied_fraction(lambda kx, ky: one_band(kx, ky, 0.3, -0.09, 0.03, mu))
    scaled = occupied_fraction(lambda kx, ky: one_band(kx, ky, 0.3 * scale, -0.09 * scale, 0.03 * scale, mu * scale))
    assert scaled == pytest.approx(original, abs=1e-9)
    assert doping(original) == pytest.approx(p, abs=5e-4)


def test_small_pocket_is_a_circle() -> None:
    # Near the bottom -4t of the simple band, eps = t k^2 - 4t: radius sqrt((mu + 4t)/t).
    t, radius = 0.4, 0.15
    filled = occupied_fraction(lambda kx, ky: one_band(kx, ky, t, 0.0, 0.0, -4 * t + t * radius**2), 4000)
    assert filled == pytest.approx(np.pi * radius**2 / (2 * np.pi) ** 2, rel=5e-3)


@pytest.mark.parametrize("p", [0.08, 0.2, 0.28])
def test_area_agrees_with_a_contour_polygon(p: float) -> None:
    mu = chemical_potential_for(lambda m: lambda kx, ky: one_band(kx, ky, 0.35, -0.1, 0.04, m), p, -2.0, 2.0)
    # The hole pocket around (pi, pi) is a closed polygon on the shifted zone.
    k = np.linspace(0, 2 * np.pi, 1501)
    energy = one_band(k, k[:, None], 0.35, -0.1, 0.04, mu)
    contour = max(find_contours(energy, 0.0), key=len) * (k[1] - k[0])
    y, x = contour.T
    area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    unoccupied = area / (2 * np.pi) ** 2
    filled = occupied_fraction(lambda kx, ky: one_band(kx, ky, 0.35, -0.1, 0.04, mu))
    assert 1.0 - filled == pytest.approx(unoccupied, abs=2e-4)


def test_sheets_have_the_symmetry_of_the_square() -> None:
    rng = np.random.default_rng(0)
    kx, ky = rng.uniform(-np.pi, np.pi, (2, 200))
    sheets = [
        lambda x, y: one_band(x, y, 0.3, -0.1, 0.04, -0.2) - bilayer_splitting(x, y, 0.1),
        lambda x, y: ruthenate_xz_yz(x, y, 0.25, 0.05, 0.3)[0],
        lambda x, y: ruthenate_xz_yz(x, y, 0.25, 0.05, 0.3)[1],
    ]
    for sheet in sheets:
        np.testing.assert_allclose(sheet(kx, ky), sheet(-ky, kx), atol=1e-12)
        np.testing.assert_allclose(sheet(kx, ky), sheet(ky, kx), atol=1e-12)


def test_ruthenate_sheets_are_the_eigenvalues_of_their_matrix() -> None:
    rng = np.random.default_rng(1)
    t, t2, mu = 0.25, 0.045, 0.29
    for kx, ky in rng.uniform(-np.pi, np.pi, (20, 2)):
        mixing = 4 * t2 * np.sin(kx) * np.sin(ky)
        matrix = [[-2 * t * np.cos(kx) - mu, mixing], [mixing, -2 * t * np.cos(ky) - mu]]
        np.testing.assert_allclose(ruthenate_xz_yz(kx, ky, t, t2, mu), np.linalg.eigvalsh(matrix), atol=1e-12)


@given(lorentz=st.floats(0.001, 0.1), gauss=st.floats(0.001, 0.1))
@settings(max_examples=30, deadline=None)
def test_voigt_width(lorentz: float, gauss: float) -> None:
    width = voigt_fwhm(lorentz, gauss)
    sigma = gauss / np.sqrt(8 * np.log(2))
    half = voigt_profile(0.5 * width, sigma, 0.5 * lorentz) / voigt_profile(0.0, sigma, 0.5 * lorentz)
    assert half == pytest.approx(0.5, abs=5e-4)


def test_line_shapes_have_the_widths_they_name() -> None:
    assert lorentzian(np.array([0.3 + 0.02]), 0.3, 0.02)[0] == pytest.approx(0.5)
    assert gaussian(np.array([0.3 + 0.02]), 0.3, 0.04)[0] == pytest.approx(0.5)
    w = np.linspace(0.2, 0.4, 200_001)
    line = damped_oscillator(w, 0.3, 0.005)
    inside = w[line > 0.5 * line.max()]
    assert line.max() == pytest.approx(1 / 0.005, rel=1e-3)
    assert inside[-1] - inside[0] == pytest.approx(2 * 0.005, rel=1e-3)
