"""C1 to C5: intrinsic widths of momentum distribution curves, row by row.

By the law, the answer is the width's law that the prompt names, fitted through the rows' widths; alone, a listed row's
width is its own fit's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.alone import each_alone, listed_values
from cme_assets.solvers.rowwise.phonons import debye_parts
from cme_assets.solvers.rowwise.tracing import trace

CUTOFFS = np.arange(0.015, 0.1005, 0.0025)
"""Cut-offs tried for a phonon spectrum inside the window, eV."""
ROUNDS = 4
LEAST_ERROR = 0.0005
"""No row's width is trusted to better than this, 1/Angstrom."""

Basis = Callable[[Array], list[Array]]
"""The terms of a width's law at energies w <= 0; their weights are positive and fitted."""


def _constant(w: Array) -> list[Array]:
    return [np.ones_like(w)]


def _linear(w: Array) -> list[Array]:
    return [np.ones_like(w), np.abs(w)]


def _square(w: Array) -> list[Array]:
    return [np.ones_like(w), w**2]


def _with_phonon(other: Basis) -> list[Basis]:
    """`other` with a Debye term, one law for each cut-off."""

    def law(cutoff: float) -> Basis:
        return lambda w: [*other(w), debye_parts(w, cutoff)[1]]

    return [law(float(cutoff)) for cutoff in CUTOFFS]


def fit_law(w: Array, width: Array, error: Array, laws: list[Basis]) -> Callable[[Array], Array]:
    """The best of `laws` through the rows' widths: positive weights, outliers weighed down."""
    fits = [_robust(np.stack(law(w), axis=1), width, error) for law in laws]
    best = int(np.argmin([cost for _, cost in fits]))
    law, (weights, _) = laws[best], fits[best]
    return lambda at: np.stack(law(at), axis=1) @ weights


def _robust(basis: Array, values: Array, error: Array) -> tuple[Array, float]:
    """Non-negative least squares, repeated with Cauchy weights, and the Cauchy cost."""
    weight = 1.0 / error
    weights = np.zeros(basis.shape[1])
    misfit = np.zeros_like(values)
    for _ in range(ROUNDS):
        weights, _ = nnls(basis * weight[:, None], values * weight)
        misfit = (basis @ weights - values) / error
        scale = max(float(np.median(np.abs(misfit))), 1e-9)
        weight = 1.0 / error / np.sqrt(1.0 + (misfit / (3.0 * scale)) ** 2)
    return weights, float(np.sum(np.log1p((misfit / 3.0) ** 2)))


def _widths(laws: list[Basis]) -> Callable[[ClosedBookProblem], Array]:
    def solve(problem: ClosedBookProblem) -> Array:
        listed = listed_values(problem)
        found = trace(problem, problem.test)
        rows, level = found.rows, found.fermi_energy
        if len(rows) == 0:
            return _usual(problem)
        error = np.hypot(rows.fwhm_error, LEAST_ERROR)
        return fit_law(rows.energy - level, rows.fwhm, error, laws)(listed - level)

    return solve


def widths_alone(problem: ClosedBookProblem) -> Array:
    """The intrinsic width of each listed row's own fit."""
    rows = trace(problem, problem.test, alone=True).rows
    return each_alone(rows.energy, rows.fwhm, listed_values(problem)) if len(rows) else _usual(problem)


def _usual(problem: ClosedBookProblem) -> Array:
    """The examples' mean width, where no row of the question could be fitted."""
    return np.full(problem.wanted, np.mean([np.mean(example.answer or (0.0,)) for example in problem.examples]))


WIDTHS = {
    "C1": _widths([_constant]),
    "C2": _widths([_linear]),
    "C3": _widths([_square]),
    "C4": _widths(_with_phonon(_square)),
    "C5": _widths(_with_phonon(_linear)),
}
"""Method by category."""
WIDTHS_ALONE = dict.fromkeys(WIDTHS, widths_alone)
"""Method by category when every listed row stands for itself."""
