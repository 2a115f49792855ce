"""Kernels keep the sum and have the width they say; specks have the mean and the spread that theory gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.ndimage import gaussian_filter1d

from cme_assets.physics.noise import Specks, speck_field
from cme_assets.physics.resolution import FWHM_PER_SIGMA, Instrument, PixelAxis, pixel_response


@given(place=st.floats(0.3, 0.7), sigma=st.floats(0.0005, 0.02), size=st.sampled_from([50, 100, 200]))
@settings(max_examples=40, deadline=None)
def test_an_impulse_keeps_its_sum(place: float, sigma: float, size: int) -> None:
    axis = PixelAxis(0.0, 1.0, size)
    fine = axis.fine(sigma)
    response = pixel_response(axis, fine, sigma)
    impulse = np.zeros(fine.size)
    impulse[np.argmin(np.abs(fine - place))] = 1.0
    total = (response @ impulse).sum() * axis.pixel / (fine[1] - fine[0])
    assert total == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(response.sum(axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("sigma", [0.0021, 0.005, 0.02])
def test_kernel_variance_over_all_sub_pixel_places(sigma: float) -> None:
    axis = PixelAxis(0.0, 1.0, 50)
    fine = axis.fine(sigma)
    response = pixel_response(axis, fine, sigma)
    inside = np.flatnonzero(np.abs(fine - 0.5) < 5 * axis.pixel - 1e-9)
    weights = response[:, inside] / response[:, inside].sum(axis=0)
    spread = ((axis.centers[:, None] - fine[inside]) ** 2 * weights).sum(axis=0).mean()
    assert spread == pytest.approx(sigma**2 + axis.pixel**2 / 12, rel=5e-3)


def test_response_agrees_with_scipy() -> None:
    axis = PixelAxis(0.0, 1.0, 100)
    fine = axis.fine(0.02)
    signal = np.exp(-0.5 * ((fine - 0.45) / 0.08) ** 2) + 0.3 * np.cos(9 * fine)
    step = fine[1] - fine[0]
    blurred = gaussian_filter1d(signal, 0.02 / step, truncate=6.0)
    padding = (fine.size - 800) // 2
    expected = blurred[padding:-padding].reshape(100, 8).mean(axis=1)
    np.testing.assert_allclose((pixel_response(axis, fine, 0.02) @ signal)[15:-15], expected[15:-15], atol=2e-5)


def test_conventions_of_the_published_widths() -> None:
    assert Instrument().sigma_momentum() == pytest.approx(0.005 / FWHM_PER_SIGMA)
    assert Instrument(convention="sigma").sigma_energy(4.0) == pytest.approx(0.012)
    with pytest.raises(ValueError, match="kernel convention 'hwhm'"):
        Instrument(convention="hwhm")


Y, X = PixelAxis(-0.25, 0.05, 100), PixelAxis(0.1, 0.7, 100)
ARPES = Specks(20_000, 0.005, 0.01)


def test_noise_has_mean_one_and_the_spread_of_shot_noise() -> None:
    """rms/mean = sqrt(area / (4 pi N s1 s2)), less what the pixels average away (a few per cent here)."""
    fields = [speck_field(np.random.default_rng(seed), ARPES, Y, X) for seed in range(4)]
    for field in fields:
        assert field.mean() == pytest.approx(1.0)
    expected = np.sqrt(0.3 * 0.6 / (4 * np.pi * 20_000 * 0.005 * 0.01))
    assert expected == pytest.approx(0.12, abs=0.005)
    assert np.mean([field.std() for field in fields]) == pytest.approx(expected, rel=0.1)


def test_specks_are_the_same_at_every_resolution() -> None:
    fields = {
        size: speck_field(np.random.default_rng(3), ARPES, PixelAxis(-0.25, 0.05, size), PixelAxis(0.1, 0.7, size))
        for size in (50, 100, 200)
    }
    for size in (50, 100):
        merged = fields[2 * size].reshape(size, 2, size, 2).mean(axis=(1, 3))
        np.testing.assert_allclose(fields[size], merged, atol=1e-9)


def test_edges_are_like_the_middle() -> None:
    mean = np.mean([speck_field(np.random.default_rng(seed), ARPES, Y, X) for seed in range(12)], axis=0)
    rim = np.concatenate([mean[0], mean[-1], mean[:, 0], mean[:, -1]])
    assert rim.mean() == pytest.approx(mean[40:60, 40:60].mean(), abs=0.03)


def test_one_speck_is_a_gaussian() -> None:
    y, x = PixelAxis(0.0, 0.1, 20), PixelAxis(0.0, 0.2, 20)
    field = speck_field(np.random.default_rng(11), Specks(1, 0.008, 0.012), y, x)
    extent, margin = np.array([0.1, 0.2]), 5 * np.array([0.008, 0.012])
    count = round(float(np.prod(1 + 2 * margin / extent)))
    places = -margin + np.random.default_rng(11).random((count, 2)) * (extent + 2 * margin)

    def density(v: float, u: float) -> float:
        gap = ((v - places[:, 1]) / 0.012) ** 2 + ((u - places[:, 0]) / 0.008) ** 2
        return float(np.exp(-0.5 * gap).sum())

    def share(row: int, column: int) -> float:
        value, _ = dblquad(density, y.edges[row], y.edges[row + 1], x.edges[column], x.edges[column + 1])
        return value

    brightest = np.unravel_index(np.argmax(field), field.shape)
    for row, column in ((3, 7), (10, 10), (16, 2), (abs(int(brightest[0]) - 1), int(brightest[1]))):
        expected = share(row, column) / share(*map(int, brightest))
        assert field[row, column] / field[brightest] == pytest.approx(expected, rel=1e-6, abs=1e-9)
