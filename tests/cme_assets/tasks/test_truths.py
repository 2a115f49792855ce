"""The declared truths, found again on the noiseless maps by another route than the one that made them."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from cme_assets.physics.resolution import Instrument
from cme_assets.problems import Sample, clean_map
from cme_assets.tasks.catalogue import CATEGORIES

SHARP = Instrument(momentum_width=1e-5, energy_width=1e-5)
"""An instrument that broadens nothing: what is left are the pixels."""


def _map(name: str, index: int, size: int = 200) -> tuple[Sample, np.ndarray]:
    sample = Sample(CATEGORIES[name], index, size)
    return sample, clean_map(sample, CATEGORIES[name].levels[0], SHARP)


def _lorentzian(x: np.ndarray, height: float, center: float, hwhm: float, offset: float, slope: float) -> np.ndarray:
    return height * hwhm**2 / ((x - center) ** 2 + hwhm**2) * (1 + slope * (x - center)) + offset


def _matrix_element(sample: Sample) -> np.ndarray:
    q, p = sample.axes.x.centers, sample.parameters
    u = 2 * (q - q.mean()) / (sample.axes.x.stop - sample.axes.x.start)
    return 1 + p["m1"] * u + p["m2"] * u**2


def _row_fits(sample: Sample, values: np.ndarray) -> np.ndarray:
    """Centre and half width of every listed row, (rows, 2)."""
    x = sample.axes.x.centers
    fits = []
    for row in values[sample.listed.positions]:
        start = [row.max() - row.min(), x[row.argmax()], 0.05, row.min(), 0.0]
        fitted, _ = curve_fit(_lorentzian, x, row, start, maxfev=5000)
        fits.append([fitted[1], abs(fitted[2])])
    return np.array(fits)


@pytest.mark.parametrize("name", ["B1", "B3"])
@pytest.mark.parametrize("index", range(3))
def test_dispersions_are_where_the_rows_peak(name: str, index: int) -> None:
    """Each row's maximum, with the matrix element divided out, by a parabola through three pixels."""
    sample, values = _map(name, index)
    rows = values[sample.listed.positions] / _matrix_element(sample)
    top = rows.argmax(axis=1)
    left, middle, right = (np.take_along_axis(rows, top[:, None] + shift, axis=1)[:, 0] for shift in (-1, 0, 1))
    centers = sample.axes.x.centers[top] + 0.5 * sample.axes.x.pixel * (left - right) / (left - 2 * middle + right)
    assert np.abs(centers - sample.truth).max() < 0.3 * sample.gamma


@pytest.mark.parametrize("name", ["C1", "C2", "C3", "C4", "C5"])
@pytest.mark.parametrize("index", range(3))
def test_widths_are_those_of_the_rows(name: str, index: int) -> None:
    sample, values = _map(name, index)
    widths = 2 * _row_fits(sample, values)[:, 1]
    assert np.median(np.abs(widths - sample.truth)) < 0.3 * sample.gamma


@pytest.mark.parametrize("index", range(3))
def test_fermi_energy_is_the_half_height(index: int) -> None:
    sample, values = _map("A1", index)
    edge = values.mean(axis=1)
    p = sample.parameters
    y = sample.axes.printed_y
    # Divide the slow density of states out; what is left falls through one half at E_F.
    slow = np.polyval(np.polyfit(y[y < p["E_F"] - 0.15], edge[y < p["E_F"] - 0.15], 1), y)
    ratio = edge / slow
    crossing = np.interp(-0.5, -ratio, y)
    assert crossing == pytest.approx(sample.truth[0], abs=sample.gamma)


@pytest.mark.parametrize("name", ["F4", "G2"])
def test_undamped_energies_solve_the_oscillator(name: str) -> None:
    """For chi'' ~ w/((w^2-w0^2)^2 + 4 g^2 w^2), w0^4 is the ratio that three values of w/chi'' determine."""
    sample, values = _map(name, 1)
    p = sample.parameters
    loss = sample.axes.y.centers
    for column in (sample.listed.first + 20, sample.listed.last - 20):
        signal = values[:, column]
        signal = signal - signal[(loss > loss[-1] - 0.05)].mean()
        high = (signal > 0.4 * signal.max()) & (loss > 0.03)
        # w/chi'' is quadratic in w^2: A ((w^2-w0^2)^2 + 4 g^2 w^2); its constant over its leading term is w0^4.
        weights = np.polyfit(loss[high] ** 2, loss[high] / signal[high], 2, w=signal[high] ** 2 / loss[high])
        energy = (weights[2] / weights[0]) ** 0.25
        assert energy == pytest.approx(sample.truth[column - sample.listed.first], rel=0.05)
        assert p["fwhm"] < 0.25


@pytest.mark.parametrize("index", range(3))
def test_charge_order_is_a_lorentzian_on_a_line(index: int) -> None:
    sample, values = _map("G3", index)
    q = sample.axes.x.centers
    profile = values[np.abs(sample.axes.y.centers) < 0.02].mean(axis=0)
    p = sample.parameters
    profile = profile / _matrix_element(sample)
    fitted, _ = curve_fit(
        lambda x, h, c, g, b, s: h * g**2 / ((x - c) ** 2 + g**2) + b + s * x,
        q,
        profile,
        [np.ptp(profile), q[profile.argmax()], 0.05, profile.min(), 0.0],
    )
    assert fitted[1] == pytest.approx(p["q_CO"], abs=5e-4)
    assert abs(fitted[2]) == pytest.approx(p["hwhm_q"], rel=0.03)


@pytest.mark.parametrize("index", range(3))
def test_gap_edge_lies_at_the_gap(index: int) -> None:
    """At kF and with the floor taken away, the occupied peak of Norman's function lies at -D."""
    sample = Sample(CATEGORIES["B10"], index, 200)
    p = {**sample.parameters, "rate": 5e-4, "pair_rate": 5e-4, "normal_state": "linear"}
    energy = np.linspace(-0.1, 0.0, 4001)
    spectrum = CATEGORIES["B10"].intensity(p, np.array([p["k_F"]]), energy)[:, 0]
    assert energy[spectrum.argmax()] == pytest.approx(-p["gap"], abs=5e-4)
