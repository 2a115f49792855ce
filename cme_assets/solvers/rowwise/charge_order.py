"""Charge order: the elastic line's height in every column, then a Lorentzian along momentum (G3, G4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.spectral import gaussian, lorentzian
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.separable import Blur, ShapeFit, fit_shape, linear_heights, straight

START_HWHMS = (0.02, 0.05, 0.10)
WIDTH_LIMITS = (0.003, 0.30)
"""Half widths that a fit may take, 1/Angstrom."""


def wave_vector(problem: ClosedBookProblem) -> Array:
    """Centre of the Lorentzian, 1/Angstrom."""
    return _profile_fit(problem).parameters[:1]


def inverse_correlation_length(problem: ClosedBookProblem) -> Array:
    """Half width of the Lorentzian, 1/Angstrom."""
    return _profile_fit(problem).parameters[1:2]


def _profile_fit(problem: ClosedBookProblem) -> ShapeFit:
    """A Lorentzian on a straight background, both seen through the instrument, fitted to the line's height."""
    q = problem.test.table.columns
    profile = line_heights(problem)
    blur = Blur.of(q, problem.fwhm_columns)

    def design(parameters: Array) -> Array:
        return np.column_stack([blur(lorentzian(blur.fine, *parameters)), straight(q)])

    smooth = np.convolve(np.pad(profile, 3, mode="edge"), np.ones(7) / 7.0, mode="valid")
    sloped = smooth - straight(q) @ linear_heights(straight(q), smooth)
    starts = [(center, hwhm) for center in (q[np.argmax(sloped)], q[np.argmax(smooth)]) for hwhm in START_HWHMS]
    return fit_shape(design, profile, starts, (q[0], WIDTH_LIMITS[0]), (q[-1], WIDTH_LIMITS[1]))


def line_heights(problem: ClosedBookProblem) -> Array:
    """Height of the elastic line in every column, (n_columns,), in units of its mean.

    The line's width and the background beneath it, common to all columns, come from the mean over momentum; then each
    column is projected on the line.
    """
    table = problem.test.table
    counts = table.counts.astype(float)
    mean = counts.mean(axis=1)
    blur = Blur.of(table.rows, problem.fwhm_rows)
    baseline = straight(table.rows)

    def design(parameters: Array) -> Array:
        return np.column_stack([blur(gaussian(blur.fine, 0.0, parameters[0])), baseline])

    fit = fit_shape(design, mean, [(0.045,)], (0.01,), (0.12,))
    line = design(fit.parameters)[:, 0]
    background = baseline @ fit.heights[1:]
    heights: Array = line @ (counts - background[:, None]) / (line @ line)
    scale = abs(float(heights.mean()))
    return heights / scale if scale > 0 else heights


CHARGE_ORDER: dict[str, Callable[[ClosedBookProblem], Array]] = {
    "G3": wave_vector,
    "G4": inverse_correlation_length,
}
"""The row-wise method by category."""
