"""Dispersions of magnons, paramagnons and plasmons from column-by-column fits (F4 to F6, G2, G5).

By the law, columns share one damping and one background, and a smooth or stated dispersion is drawn through their
energies; alone, each listed column has its own of everything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.physics.excitations import (
    acoustic_plasmon_velocity,
    magnon_energy,
    plasmon_energy,
    square_lattice_factor,
)
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.alone import each_alone, listed_values
from cme_assets.solvers.rowwise.oscillators import ColumnFits, column_fits, energies_alone
from cme_assets.solvers.rowwise.smoothing import smooth_curve

OUTLIER = 4.0
"""Columns off the dispersion by more than this many typical deviations are left out."""
PASSES = 6


def dispersion(problem: ClosedBookProblem) -> Array:
    """Undamped energies at the listed columns, smoothed along momentum as far as the noise calls for."""
    fits = column_fits(problem)
    return smooth_curve(fits.q, fits.energy, fits.error, listed_values(problem))


def dispersion_alone(problem: ClosedBookProblem) -> Array:
    """The undamped energy of each listed column's own fit."""
    return each_alone(problem.test.table.columns, energies_alone(problem), listed_values(problem))


def paramagnon(problem: ClosedBookProblem) -> Array:
    """The stated dispersion, proportional to |sin(q a / 2)|, fitted to the column-by-column energies."""
    a = _given(problem.test, "lattice constant")
    fits = column_fits(problem)

    def shape(q: Array) -> Array:
        return np.abs(np.sin(0.5 * q * a))

    return proportionality(fits, shape(fits.q)) * shape(listed_values(problem))


def exchange(problem: ClosedBookProblem) -> Array:
    """J from the stated spin-wave dispersion, which is proportional to it."""
    a = _given(problem.test, "lattice constant")
    direction = next(str(given.value) for given in problem.test.given if "direction" in given.name)
    fits = column_fits(problem)
    reduced = fits.q * a / (2.0 * np.pi)
    factor = square_lattice_factor(
        *((reduced, 0.0 * reduced) if direction == "(h,0)" else (reduced / np.sqrt(2.0),) * 2)
    )
    return np.array([proportionality(fits, magnon_energy(factor, 1.0))])


def acoustic_velocity(problem: ClosedBookProblem) -> Array:
    """Slope at q -> 0 of the stated acoustic branch, whose square is proportional to the strength A."""
    spacing = _given(problem.test, "layer spacing")
    fits = column_fits(problem)
    root = proportionality(fits, plasmon_energy(fits.q, 1.0, spacing, np.pi))
    return np.array([acoustic_plasmon_velocity(root**2, spacing)])


def proportionality(fits: ColumnFits, shape: Array) -> float:
    """The factor of `shape` (n,) that fits the energies, by weighted least squares without outliers."""
    weight = 1.0 / fits.error**2
    factor = float(np.median(fits.energy / np.where(shape > 0, shape, np.inf)))
    for _ in range(PASSES):
        pull = (fits.energy - factor * shape) / fits.error
        keep = np.abs(pull) <= OUTLIER * max(float(np.median(np.abs(pull))), 1e-9)
        moment = float(np.sum((weight * shape**2)[keep]))
        if moment <= 0:
            break
        factor = float(np.sum((weight * shape * fits.energy)[keep])) / moment
    return factor


def _given(exhibit: Exhibit, name: str) -> float:
    """The value that the prompt states under a name that contains `name`."""
    return next(float(given.value) for given in exhibit.given if name in given.name)


RIXS_DISPERSIONS: dict[str, Callable[[ClosedBookProblem], Array]] = {
    "F4": dispersion,
    "F5": exchange,
    "F6": paramagnon,
    "G2": dispersion,
    "G5": acoustic_velocity,
}
"""The method by category."""
RIXS_DISPERSIONS_ALONE = dict.fromkeys(("F4", "F6", "G2"), dispersion_alone)
"""The method by category when every listed column stands for itself."""
