"""The superconducting gap from energy distribution curves, fitted column by column with the stated self-energy (B10).

The gap and the rates are the same for all columns; the band's energy and the height are each column's own, so that no
form of the band is assumed. Two bands are taken for one and its copy, displaced in energy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.self_energies import norman_pairing
from cme_assets.physics.spectral import spectral_function
from cme_assets.physics.thermal import fermi
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.separable import Blur, straight

TEMPERATURE = 20.0
"""K; any temperature well below the gap does, since the edge is then the instrument's."""
PAIR_RATE = 0.002
"""Middle of the stated range, eV."""
RATES = (0.022, 0.032, 0.045)
GAPS = np.arange(0.012, 0.0661, 0.006)
"""Trial values, eV."""
GAP_LIMITS = (0.003, 0.12)
BANDS = np.arange(-0.56, 0.2601, 0.008)
"""Trial band energies, eV; as wide as the bands run across the map, or its outer columns would spoil the fit."""
DISPLACEMENTS = np.concatenate([np.arange(-0.36, -0.05, 0.03), np.arange(0.06, 0.37, 0.03)])
"""Trial displacements of a second band, eV."""
SECOND_HEIGHT = 0.6
TWO_BANDS_GAIN = 0.85
"""A second band has to leave less than this of one band's misfit."""


@dataclass(frozen=True)
class GapCurves:
    """The energy distribution curves, `counts` (n_rows, n_columns), at `blur`'s energies from the Fermi level."""

    blur: Blur
    background: Array
    counts: Array

    @classmethod
    def of(cls, problem: ClosedBookProblem) -> GapCurves:
        table = problem.test.table
        energy = table.rows - next(float(given.value) for given in problem.test.given if given.name == "E_F")
        blur = Blur.of(energy, problem.fwhm_rows)
        edge = blur(fermi(blur.fine, TEMPERATURE))
        background = np.linalg.qr(np.column_stack([np.ones_like(energy), edge[:, None] * straight(energy)]))[0]
        counts = table.counts / max(float(table.counts.max()), 1.0)
        return cls(blur, background, counts - background @ (background.T @ counts))

    def misfit(self, gap: float, rate: float, displacement: float = 0.0, second: float = 0.0) -> float:
        """Residual sum of squares when each column has its best band energy and height, above a background that
        follows the Fermi function. `second` is the height of the band that lies `displacement` eV higher."""
        lines = self._lines(gap, rate, BANDS)
        if second:
            lines = lines + second * self._lines(gap, rate, BANDS + displacement)
        lines = lines - self.background @ (self.background.T @ lines)
        lines = lines / (np.linalg.norm(lines, axis=0) + 1e-300)
        explained = np.clip(lines.T @ self.counts, 0.0, None) ** 2
        return float(np.sum(self.counts**2) - np.sum(_peak_heights(explained)))

    def _lines(self, gap: float, rate: float, bands: Array) -> Array:
        w = self.blur.fine[:, None]
        spectral = spectral_function(w, bands, norman_pairing(w, bands, rate, gap, PAIR_RATE))
        return self.blur(spectral * fermi(w, TEMPERATURE))


def superconducting_gap(problem: ClosedBookProblem) -> Array:
    """D of the stated self-energy."""
    curves = GapCurves.of(problem)
    trials = [(gap, rate) for gap in GAPS for rate in RATES]
    start = min(trials, key=lambda trial: curves.misfit(*trial))
    one, one_misfit = _least(curves, start)
    seconds = [(*one, displacement, SECOND_HEIGHT) for displacement in DISPLACEMENTS]
    best = min(seconds, key=lambda trial: curves.misfit(*trial))
    gap = one[0]
    if curves.misfit(*best) < one_misfit:
        two, two_misfit = _least(curves, best)
        gap = two[0] if two_misfit < TWO_BANDS_GAIN * one_misfit else gap
    return np.array([np.clip(gap, *GAP_LIMITS)])


def _least(curves: GapCurves, start: tuple[float, ...]) -> tuple[Array, float]:
    """The parameters of `GapCurves.misfit` that make it least, near `start`, and that misfit."""
    steps = np.array([0.003, 0.004, 0.015, 0.1])[: len(start)]
    simplex = np.vstack([start, start + np.diag(steps)])
    found = minimize(
        lambda trial: curves.misfit(float(np.clip(trial[0], *GAP_LIMITS)), abs(float(trial[1])), *trial[2:]),
        start,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "xatol": 2e-4, "fatol": 0.0, "maxfev": 40 * len(start)},
    )
    return found.x, float(found.fun)


def _peak_heights(values: Array) -> Array:
    """Largest of `values` (trials, columns) in each column, between the trials by a parabola."""
    columns = np.arange(values.shape[1])
    at = np.clip(np.argmax(values, axis=0), 1, values.shape[0] - 2)
    before, here, after = values[at - 1, columns], values[at, columns], values[at + 1, columns]
    bend = np.minimum(before - 2.0 * here + after, -1e-300)
    shift = np.clip(0.5 * (before - after) / bend, -1.0, 1.0)
    return here - 0.25 * (before - after) * shift


GAP: dict[str, Callable[[ClosedBookProblem], Array]] = {"B10": superconducting_gap}
"""The row-wise method by category."""
