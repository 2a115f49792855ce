"""B1 to B4: dispersions and Fermi velocities from momentum distribution curves.

Each row is fitted on its own. By the law, the answer is the low-order band that the question speaks of, drawn through
the fitted momenta with their errors as weights; alone, a listed row's momentum is its own fit's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics import bands
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.alone import each_alone, listed_values
from cme_assets.solvers.rowwise.rows import RowFits, fermi_level, fit_rows, pixel_of, ridge
from cme_assets.solvers.rowwise.tracing import trace

ROUNDS = 3
SYSTEMATIC_IN_PIXELS = 0.05
"""Added to each row's error: no row is trusted to better than this, or noiseless maps follow their few best rows."""
OUTLIER_SIGMAS = 2.0
"""Where the robust loss turns from squares to absolute values."""

ALMOST = 1.0 - 1e-9
"""Keeps the root at a band's extremum real."""
VELOCITIES = (0.02, 50.0)
"""Limits of a fitted Fermi velocity, eV Angstrom."""


@dataclass(frozen=True)
class Band:
    """A band `eps = v u + c u^2`, `u = s (k - kF)`, from the Fermi level `fermi_energy` (eV)."""

    fermi_energy: float
    k_fermi: float
    velocity: float
    curvature: float
    direction: float

    def momentum(self, energy: Array) -> Array:
        """k at absolute energies; where a curved band does not reach, the momentum of its extremum."""
        w = energy - self.fermi_energy
        if self.curvature != 0:
            extremum = -ALMOST * self.velocity**2 / (4.0 * self.curvature)
            w = np.maximum(w, extremum) if self.curvature > 0 else np.minimum(w, extremum)
        return bands.quadratic_momentum(w, self.velocity, self.curvature, self.k_fermi, self.direction)

    def inverse_slope(self, energy: Array) -> Array:
        """`|dk/dE|`, Angstrom/eV."""
        squared = self.velocity**2 + 4.0 * self.curvature * (energy - self.fermi_energy)
        return 1.0 / np.sqrt(np.maximum(squared, 0.01 * self.velocity**2))


Shape = Callable[[RowFits, float, float], Band]


def linear_band(rows: RowFits, fermi_energy: float, pixel: float) -> Band:
    """The straight line through the rows' momenta, robust and weighted."""
    w = rows.energy - fermi_energy
    slope, intercept = np.polyfit(w, rows.center, 1)
    scale = _errors(rows, pixel)
    fit = least_squares(
        lambda p: (p[0] + p[1] * w - rows.center) / scale, [intercept, slope], loss="soft_l1", f_scale=OUTLIER_SIGMAS
    )
    k_fermi, inverse = (float(value) for value in fit.x)
    inverse = inverse if abs(inverse) > 1e-6 else 1e-6
    return Band(fermi_energy, k_fermi, abs(1.0 / inverse), 0.0, float(np.sign(inverse)))


def quadratic_band(rows: RowFits, fermi_energy: float, pixel: float) -> Band:
    """The parabola's branch through the rows' momenta, robust and weighted; started from the straight line."""
    line = linear_band(rows, fermi_energy, pixel)
    scale = _errors(rows, pixel)

    def band(p: Array) -> Band:
        return Band(
            fermi_energy,
            float(p[0]),
            float(np.clip(np.exp(np.clip(p[1], -9.0, 9.0)), *VELOCITIES)),
            float(p[2]),
            line.direction,
        )

    fit = least_squares(
        lambda p: (band(p).momentum(rows.energy) - rows.center) / scale,
        [line.k_fermi, np.log(line.velocity), 0.0],
        x_scale=[0.01, 0.1, 0.5],
        loss="soft_l1",
        f_scale=OUTLIER_SIGMAS,
        max_nfev=100,
    )
    return band(fit.x)


def trace_band(problem: ClosedBookProblem, shape: Shape) -> Band:
    """The question's band: ridge, row fits along it, the band through them, and again along that band."""
    table = problem.test.table
    level = fermi_level(problem, problem.test)
    keep = table.rows < level
    if keep.sum() < 4:
        keep = np.ones(table.rows.size, dtype=bool)
    energy, pixel = table.rows[keep], pixel_of(table.columns)
    guess = table.columns[ridge(table.counts[keep])]
    band = shape(_plain(energy, guess, pixel), level, pixel)
    for number in range(ROUNDS):
        start = guess if number == 0 else band.momentum(energy)
        rows = fit_rows(table, keep, problem.fwhm_rows, problem.fwhm_columns, start, band.inverse_slope(energy))
        if len(rows) < 4:
            break
        band = shape(rows, level, pixel)
    return band


def _plain(energy: Array, momentum: Array, pixel: float) -> RowFits:
    """Momenta without errors of their own as row results."""
    same = np.full(energy.size, pixel)
    return RowFits(energy, momentum, *[same] * 6)


def _errors(rows: RowFits, pixel: float) -> Array:
    return np.hypot(rows.center_error, SYSTEMATIC_IN_PIXELS * pixel)


def _dispersion(shape: Shape) -> Callable[[ClosedBookProblem], Array]:
    def solve(problem: ClosedBookProblem) -> Array:
        return trace_band(problem, shape).momentum(listed_values(problem))

    return solve


def momenta_alone(problem: ClosedBookProblem) -> Array:
    """The momentum of each listed row's own fit."""
    rows = trace(problem, problem.test, alone=True).rows
    return each_alone(rows.energy, rows.center, listed_values(problem))


def _velocity(shape: Shape) -> Callable[[ClosedBookProblem], Array]:
    def solve(problem: ClosedBookProblem) -> Array:
        band = trace_band(problem, shape)
        return np.array([band.direction * band.velocity])

    return solve


DISPERSIONS = {
    "B1": _dispersion(linear_band),
    "B2": _velocity(linear_band),
    "B3": _dispersion(quadratic_band),
    "B4": _velocity(quadratic_band),
}
"""Method by category."""
DISPERSIONS_ALONE = {"B1": momenta_alone, "B3": momenta_alone}
"""Method by category when every listed row stands for itself."""
