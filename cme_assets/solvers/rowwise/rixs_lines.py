"""Lines that do not move with momentum: elastic line, phonon ladder, orbital excitations (F1 to F3, G1).

All columns show the same spectrum, so their mean is fitted with the shapes that the problem states.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.signal import find_peaks

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.physics.excitations import phonon_ladder
from cme_assets.physics.spectral import gaussian, lorentzian
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.separable import Blur, fit_shape, linear_heights, straight

PHONON_HWHM = 0.0075
"""Half of the full width that the ladder problems state, eV."""
LADDER_LINES = 10
FIRST_LINE = 0.2
"""Least height of the ladder's first line, of the highest."""


def _spectrum(exhibit: Exhibit) -> Array:
    """Mean over momentum, scaled to a maximum of one."""
    mean = exhibit.table.counts.mean(axis=1)
    return mean / max(float(mean.max()), 1.0)


def _given(exhibit: Exhibit, name: str) -> float:
    """The value that the prompt states under a name that contains `name`."""
    return next(float(given.value) for given in exhibit.given if name in given.name)


# --- F1: elastic line with a phonon at its side ---


def elastic_line(problem: ClosedBookProblem) -> Array:
    """Two Gaussians and a straight background."""
    loss = problem.test.table.rows
    data = _spectrum(problem.test)
    blur = Blur.of(loss, problem.fwhm_rows)
    baseline = straight(loss)

    def design(parameters: Array) -> Array:
        center, fwhm, distance, fwhm_phonon = parameters
        peaks = [gaussian(blur.fine, center, fwhm), gaussian(blur.fine, center + distance, fwhm_phonon)]
        return np.hstack([blur(np.stack(peaks, axis=1)), baseline])

    top = loss[np.argmax(data)]
    starts = [
        (top - shift, 0.018, distance, 0.022) for shift, distance in ((0.0, 0.035), (0.003, 0.025), (0.006, 0.018))
    ]
    fit = fit_shape(design, data, starts, (loss[0], 0.006, 0.008, 0.006), (loss[-1], 0.04, 0.08, 0.05))
    return fit.parameters[:1]


# --- F2, F3: phonon ladder ---


def phonon_energy(problem: ClosedBookProblem) -> Array:
    """Lorentzians at all multiples of one energy, each with its own height, beside an elastic Gaussian.

    Half the energy fits as well, with every other line absent, so the first line has to be there.
    """
    loss = problem.test.table.rows
    data = _spectrum(problem.test)
    blur = Blur.of(loss, problem.fwhm_rows)
    baseline = straight(loss)

    def design(parameters: Array) -> Array:
        places = parameters[0] * np.arange(1, LADDER_LINES + 1)
        lines = lorentzian(blur.fine[:, None], places[places < loss[-1]], PHONON_HWHM)
        elastic = gaussian(blur.fine, 0.0, parameters[1])
        return np.hstack([blur(np.column_stack([lines, elastic])), baseline])

    def misfit(parameters: Array) -> float:
        shapes = design(parameters)
        heights = linear_heights(shapes, data)
        if heights[0] < FIRST_LINE * heights[: -1 - baseline.shape[1]].max():
            return np.inf
        return float(np.sum((shapes @ heights - data) ** 2))

    trials = [np.array([energy, 0.012]) for energy in np.arange(0.050, 0.1201, 0.001)]
    return fit_shape(design, data, [min(trials, key=misfit)], (0.04, 0.006), (0.14, 0.03)).parameters[:1]


def phonon_coupling(problem: ClosedBookProblem) -> Array:
    """The ladder of the stated formula, whose only unknown besides its height is g = (M / w_ph)^2."""
    loss = problem.test.table.rows
    data = _spectrum(problem.test)
    phonon, core_hole = _given(problem.test, "phonon energy"), _given(problem.test, "core-hole")
    detuning = _given(problem.test, "detuning")
    blur = Blur.of(loss, problem.fwhm_rows)
    places = phonon * np.arange(1, LADDER_LINES + 1)
    lines = blur(lorentzian(blur.fine[:, None], places, PHONON_HWHM))
    baseline = straight(loss)

    def misfit(coupling: float) -> float:
        ladder = lines @ phonon_ladder(LADDER_LINES, (coupling / phonon) ** 2, phonon, core_hole, detuning)
        shapes = np.column_stack([ladder, baseline])
        return float(np.sum((shapes @ linear_heights(shapes, data) - data) ** 2))

    trials = phonon * np.sqrt(np.geomspace(0.05, 8.0, 50))
    best = int(np.argmin([misfit(trial) for trial in trials]))
    bounds = trials[max(best - 1, 0)], trials[min(best + 1, trials.size - 1)]
    return np.array([minimize_scalar(misfit, bounds=bounds, method="bounded", options={"xatol": 1e-5}).x])


# --- G1: orbital excitations ---

ORBITALS = 3


def orbital_excitations(problem: ClosedBookProblem) -> Array:
    """Three Gaussians on the tail of a Lorentzian above the window."""
    loss = problem.test.table.rows
    data = _spectrum(problem.test)
    blur = Blur.of(loss, problem.fwhm_rows)
    baseline = np.ones((loss.size, 1))

    def design(parameters: Array) -> Array:
        centers, widths = parameters[:ORBITALS], parameters[ORBITALS : 2 * ORBITALS]
        peaks = gaussian(blur.fine[:, None], centers, widths)
        tail = lorentzian(blur.fine, *parameters[2 * ORBITALS :])
        return np.hstack([blur(np.column_stack([peaks, tail])), baseline])

    edge = 2
    lower = [loss[edge]] * ORBITALS + [0.05] * ORBITALS + [loss[-1] + 0.3, 0.2]
    upper = [loss[-edge]] * ORBITALS + [0.40] * ORBITALS + [loss[-1] + 1.6, 1.0]
    starts = [(*centers, *[0.15] * ORBITALS, loss[-1] + 0.9, 0.6) for centers in _orbital_starts(loss, data)]
    return np.sort(fit_shape(design, data, starts, lower, upper).parameters[:ORBITALS])


def _orbital_starts(loss: Array, data: Array) -> list[Array]:
    """Triples of places: the three most prominent maxima, of the spectrum smoothed to several widths."""
    step = loss[1] - loss[0]
    starts = []
    for width in (0.05, 0.10, 0.15):
        offsets = np.arange(-int(4 * width / step), int(4 * width / step) + 1) * step
        curvature = (1.0 - (offsets / width) ** 2) * np.exp(-0.5 * (offsets / width) ** 2)
        filtered = np.convolve(np.pad(data, offsets.size // 2, mode="edge"), curvature, mode="valid")
        places, properties = find_peaks(filtered, prominence=0.0)
        best = places[np.argsort(properties["prominences"])[::-1][:ORBITALS]]
        if best.size == ORBITALS:
            starts.append(np.sort(loss[best]))
    return starts or [np.quantile(loss, [0.25, 0.45, 0.65])]


RIXS_LINES: dict[str, Callable[[ClosedBookProblem], Array]] = {
    "F1": elastic_line,
    "F2": phonon_energy,
    "F3": phonon_coupling,
    "G1": orbital_excitations,
}
"""The row-wise method by category."""
