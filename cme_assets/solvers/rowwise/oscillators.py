"""Column-by-column fits of a damped oscillator: undamped energies along momentum, with errors.

The problems state the line shape, and that the damping is the same at all momenta; so is the background. Columns can
also be fitted alone, each with its own damping and background.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.excitations import scattering
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.separable import Blur, fit_shape, straight

TEMPERATURE = 22.0
"""Middle of the temperatures that the problems state, K; it matters only at losses below 5 meV."""
DAMPINGS = np.geomspace(0.015, 0.30, 13)
"""Trial values, eV."""
LOWEST_ENERGY = 0.012
ENERGIES = 160
FINEST_STEP = 0.001
TURNS = 4


@dataclass(frozen=True)
class ColumnFits:
    """At momenta `q` (n,) the undamped `energy`, eV, its standard `error` up to a common factor, and the `damping`."""

    q: Array
    energy: Array
    error: Array
    damping: float


def column_fits(problem: ClosedBookProblem) -> ColumnFits:
    """Fit every column of the question's table with the line whose damping fits all of them best."""
    table = problem.test.table
    counts = table.counts / max(float(table.counts.max()), 1.0)
    blur = Blur.of(table.rows, problem.fwhm_rows)
    energies = np.linspace(LOWEST_ENERGY, table.rows[-1], ENERGIES)
    baseline = straight(table.rows)

    def lines(damping: float, trials: Array) -> Array:
        return blur(scattering(blur.fine[:, None], trials, damping, TEMPERATURE))

    def flattened(damping: float) -> Array:
        return counts - _common_background(lines(damping, energies), counts, baseline)[:, None]

    def total(damping: float) -> float:
        return float(_misfits(lines(damping, energies), flattened(damping)).min(axis=0).sum())

    trials = _around(int(np.argmin([total(damping) for damping in DAMPINGS])))
    place, _ = _minima(np.log(trials), np.array([[total(damping)] for damping in trials]))
    damping = float(np.exp(place[0]))
    fine = np.linspace(energies[0], energies[-1], 1 + round(float(np.ptp(energies)) / FINEST_STEP))
    energy, error = _minima(fine, _misfits(lines(damping, fine), flattened(damping)))
    return ColumnFits(table.columns, energy, error, damping)


def energies_alone(problem: ClosedBookProblem) -> Array:
    """Undamped energies (n_columns,), eV, of columns fitted with energy, damping, height and background of their own.

    Not a number where a column shows no line.
    """
    table = problem.test.table
    blur, baseline = Blur.of(table.rows, problem.fwhm_rows), straight(table.rows)
    counts = _without(baseline, table.counts / max(float(table.counts.max()), 1.0))
    trials = np.linspace(LOWEST_ENERGY, table.rows[-1], ENERGIES)

    def lines(energy: Array, damping: float) -> Array:
        return blur(scattering(blur.fine[:, None], energy, damping, TEMPERATURE))

    def design(parameters: Array) -> Array:
        return np.hstack([lines(parameters[:1], parameters[1]), baseline])

    costs = np.array([_misfits(_without(baseline, lines(trials, damping)), counts) for damping in DAMPINGS])
    best = costs.reshape(-1, counts.shape[1]).argmin(axis=0)
    starts = zip(trials[best % ENERGIES], DAMPINGS[best // ENERGIES], strict=True)
    lower, upper = (0.5 * LOWEST_ENERGY, 0.5 * DAMPINGS[0]), (table.rows[-1], 2.0 * DAMPINGS[-1])
    fits = [fit_shape(design, curve, [start], lower, upper) for curve, start in zip(counts.T, starts, strict=True)]
    return np.array([fit.parameters[0] if fit.heights[0] > 0 else np.nan for fit in fits])


def _around(best: int) -> Array:
    """Finer trial dampings about the best coarse one."""
    ratio = DAMPINGS[1] / DAMPINGS[0]
    return DAMPINGS[best] * ratio ** np.linspace(-1.5, 1.5, 7)


def _without(baseline: Array, curves: Array) -> Array:
    """What of `curves` (points, curves) no baseline can take."""
    basis = np.linalg.qr(baseline)[0]
    return curves - basis @ (basis.T @ curves)


def _misfits(lines: Array, data: Array) -> Array:
    """Residual sums of squares (trials, columns) of each of `lines` (points, trials) in each column of `data`.

    A line of negative height is no line.
    """
    height = np.clip(_unit(lines).T @ data, 0.0, None)
    return np.sum(data**2, axis=0) - height**2


def _unit(lines: Array) -> Array:
    return lines / (np.linalg.norm(lines, axis=0) + 1e-300)


def _common_background(lines: Array, counts: Array, baseline: Array) -> Array:
    """The straight background (points,) beneath all columns when each has its best one of `lines` (points, trials).

    By turns: the best line of every column, then least squares for the background and all heights together.
    """
    lines = _unit(lines)
    chosen = np.argmin(_misfits(_without(baseline, lines), _without(baseline, counts)), axis=0)
    for _ in range(TURNS):
        line = lines[:, chosen]
        overlap = baseline.T @ line
        normal = counts.shape[1] * baseline.T @ baseline - overlap @ overlap.T
        moment = baseline.T @ counts.sum(axis=1) - overlap @ np.sum(line * counts, axis=0)
        background: Array = baseline @ np.linalg.lstsq(normal, moment, rcond=1e-12)[0]
        chosen = np.argmin(_misfits(lines, counts - background[:, None]), axis=0)
    return background


def _minima(axis: Array, costs: Array) -> tuple[Array, Array]:
    """Places of the least of `costs` (trials, lines) on an equally spaced `axis`, and the errors of these places.

    The error is where the misfit has risen by its least value over the number of points, which leaves out a factor
    that is common to all lines.
    """
    at = np.clip(np.argmin(costs, axis=0), 1, axis.size - 2)
    lines = np.arange(costs.shape[1])
    before, here, after = costs[at - 1, lines], costs[at, lines], costs[at + 1, lines]
    bend = np.maximum(before - 2.0 * here + after, 1e-12)
    step = axis[1] - axis[0]
    shift = np.clip(0.5 * (before - after) / bend, -0.5, 0.5)
    return axis[at] + step * shift, step * np.sqrt(np.maximum(costs.min(), 0.0) / axis.size / bend + 1e-6)
