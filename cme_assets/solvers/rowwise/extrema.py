"""Parabolas, band bottoms and Dirac points from row-by-row fits of symmetric pairs (B7 to B9).

A parabola is asked column by column; alone, each listed column's energy is its own energy distribution curve's fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.alone import each_alone, listed_values
from cme_assets.solvers.rowwise.columns import column_energies
from cme_assets.solvers.rowwise.pairs import PairFits, Rows, cone_pair, parabola_pair, rashba_pair

PARABOLA_WIDTHS = np.geomspace(0.0015, 0.12, 9)
"""Trial |S''|/c, 1/Angstrom^2."""
CONE_WIDTHS = np.geomspace(0.006, 0.10, 8)
"""Trial half widths, 1/Angstrom."""
REACHES = 60
SPLITTINGS = np.linspace(0.02, 0.40, 20)
"""Trial displacements of a Rashba pair's parabolas, 1/Angstrom."""
PAIR_GAIN = 0.95
"""A Rashba pair has to leave less than this of a single parabola's misfit."""
OUTLIER = 4.0
PASSES = 6


def parabola(problem: ClosedBookProblem) -> Array:
    """The parabola at the listed columns."""
    rows = Rows.of(problem)
    reaches = _parabola_reaches(rows)
    center = rows.refined_center(parabola_pair, rows.symmetry_center(), reaches, PARABOLA_WIDTHS)
    bottom, curvature = bottom_and_curvature(rows.fits(parabola_pair, center, reaches, PARABOLA_WIDTHS))
    return bottom + curvature * (listed_values(problem) - center) ** 2


def parabola_alone(problem: ClosedBookProblem) -> Array:
    """The energy of each listed column's own fit."""
    wanted = listed_values(problem)
    return each_alone(*column_energies(problem, wanted), wanted)


def band_bottom(problem: ClosedBookProblem) -> Array:
    """Where the parabolas' reach goes to zero, of one parabola or of a Rashba pair, whichever fits the rows better."""
    rows = Rows.of(problem)
    reaches = _parabola_reaches(rows)
    center = rows.symmetry_center()

    def misfit(splitting: float) -> float:
        return rows.total_misfit(rashba_pair(splitting), center, reaches, PARABOLA_WIDTHS)

    splitting = _least(misfit, [s for s in SPLITTINGS if s < 0.5 * np.ptp(rows.momentum)])
    fits = []
    for shape in (parabola_pair, rashba_pair(splitting)):
        place = rows.refined_center(shape, center, reaches, PARABOLA_WIDTHS)
        fits.append(rows.fits(shape, place, reaches, PARABOLA_WIDTHS))
    single, pair = fits
    return np.array([bottom_and_curvature(pair if pair.misfit < PAIR_GAIN * single.misfit else single)[0]])


def dirac_point(problem: ClosedBookProblem) -> Array:
    """Where the two lines of every row, extrapolated from both sides, meet."""
    rows = Rows.of(problem)
    reaches = np.linspace(0.0, 0.7 * np.ptp(rows.momentum), REACHES)
    center = rows.refined_center(cone_pair, rows.symmetry_center(), reaches, CONE_WIDTHS)
    return np.array([node_energy(rows.fits(cone_pair, center, reaches, CONE_WIDTHS))])


def bottom_and_curvature(fits: PairFits) -> tuple[float, float]:
    """E_bottom, eV, and c, eV Angstrom^2, from the straight line `reach = (E - E_bottom)/c`."""
    middle = float(fits.energy.mean())
    slope, offset = _robust_polynomial(fits.energy - middle, fits.reach, fits.error, 1)
    if slope <= 0:
        return float(fits.energy.min()), 0.0
    return middle - offset / slope, 1.0 / slope


def node_energy(fits: PairFits) -> float:
    """E_D, eV, from `reach^2 = ((E - E_D)^2 - M^2)/v^2`, fitted to the rows whose lines are told apart."""
    middle = float(fits.energy.mean())
    apart = fits.reach > fits.width
    error = np.where(apart, 2.0 * fits.reach * fits.error, np.inf)
    bend, slope, _ = _robust_polynomial(fits.energy - middle, fits.reach**2, error, 2)
    if bend <= 0:
        return middle
    return float(np.clip(middle - 0.5 * slope / bend, fits.energy[0], fits.energy[-1]))


def _parabola_reaches(rows: Rows) -> Array:
    """Trial reaches, evenly spaced in momentum: signed squares."""
    root = np.linspace(-0.4, 0.75, REACHES) * np.ptp(rows.momentum)
    return root * np.abs(root)


def _least(misfit: Callable[[float], float], trials: Sequence[float] | Array) -> float:
    """Where `misfit` is least, from evenly spaced trials refined twice."""
    step = trials[1] - trials[0]
    for _ in range(3):
        best = trials[int(np.argmin([misfit(trial) for trial in trials]))]
        trials = np.abs(np.linspace(best - step, best + step, 9))
        step = 0.25 * step
    return float(best)


def _robust_polynomial(x: Array, y: Array, error: Array, degree: int) -> Array:
    """Coefficients, highest first, of a weighted least-squares polynomial without outliers; zeros where it fails."""
    usable = np.isfinite(error) & (error > 0)
    floor = np.median(error[usable]) * 1e-2 if usable.any() else 1.0
    weight = np.where(usable, 1.0 / np.maximum(error, floor), 0.0)
    coefficients = np.zeros(degree + 1)
    for _ in range(PASSES):
        if np.count_nonzero(weight) <= degree + 2:
            break
        coefficients = np.polyfit(x, y, degree, w=weight)
        pull = weight * np.abs(y - np.polyval(coefficients, x))
        limit = OUTLIER * max(float(np.median(pull[weight > 0])), 1e-12)
        weight = np.where(pull > limit, 0.0, weight)
    return coefficients


EXTREMA: dict[str, Callable[[ClosedBookProblem], Array]] = {
    "B7": parabola,
    "B8": band_bottom,
    "B9": dirac_point,
}
"""The method by category."""
EXTREMA_ALONE = {"B7": parabola_alone}
"""The method by category when every listed column stands for itself."""
