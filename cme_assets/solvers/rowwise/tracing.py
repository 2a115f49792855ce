"""Following one smooth band down a map: momenta and widths of all occupied rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.rows import (
    Background,
    RowFits,
    common_background,
    fermi_level,
    fit_rows,
    pixel_of,
    ridge,
)

DEGREE = 5
"""Degree of the polynomial k(E) that later rounds start from; it guides the fits and is no result."""
ROUNDS = 3
LEAST_ERROR_IN_PIXELS = 0.05


@dataclass(frozen=True)
class Trace:
    """Row fits below `fermi_energy` (eV)."""

    fermi_energy: float
    rows: RowFits


def trace(problem: ClosedBookProblem, exhibit: Exhibit, alone: bool = False) -> Trace:
    """Ridge, row fits from it, and again from the smooth curve through them with one background for all rows.

    `alone` leaves each row its own background.
    """
    table = exhibit.table
    level = fermi_level(problem, exhibit)
    keep = table.rows < level
    if keep.sum() < 4:
        keep = np.ones(table.rows.size, dtype=bool)
    energy, pixel = table.rows[keep], pixel_of(table.columns)
    start = table.columns[ridge(table.counts[keep])]
    slope = _guide(energy, start, np.full(energy.size, pixel))[1](energy)
    background: Background | None = None
    rows = RowFits(*[np.empty(0)] * 8)
    for _ in range(ROUNDS):
        found = fit_rows(table, keep, problem.fwhm_rows, problem.fwhm_columns, start, slope, background)
        if len(found) <= DEGREE + 2:
            break
        rows = found
        curve, derivative = _guide(rows.energy, rows.center, np.hypot(rows.center_error, LEAST_ERROR_IN_PIXELS * pixel))
        start, slope = curve(energy), np.abs(derivative(energy))
        background = None if alone else common_background(rows)
    return Trace(level, rows)


def _guide(energy: Array, momentum: Array, error: Array) -> tuple[np.polynomial.Polynomial, np.polynomial.Polynomial]:
    """A polynomial k(E), fitted twice, the second time without what lies far off; and its derivative."""
    curve = np.polynomial.Polynomial.fit(energy, momentum, DEGREE, w=1.0 / error)
    misfit = np.abs(momentum - curve(energy)) / error
    weight = 1.0 / (error * (1.0 + (misfit / (3.0 * np.median(misfit) + 1e-9)) ** 2))
    curve = np.polynomial.Polynomial.fit(energy, momentum, DEGREE, w=weight)
    return curve, curve.deriv()
