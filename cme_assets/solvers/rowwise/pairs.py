"""Rows of a map that show symmetric pairs of lines: parabolas, Rashba pairs and Dirac cones cut at one energy.

At a fixed energy the self-energy, the Fermi function and the background are numbers, so that the shape of a row is
exact whatever they are; only its place, its width and its height vary from row to row. The centre is common to all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.separable import Blur, fit_shape

LineShape = Callable[[Array, Array | float, Array | float], Array]
"""Of momentum from the centre, the pair's reach and its width."""

CENTRAL_SHARE = (0.2, 0.8)
"""Part of the momentum axis in which the centre is looked for."""
BRIGHT = 0.25
"""Rows whose mean stands this high above the darkest row, of the brightest, are fitted."""


def parabola_pair(q: Array, reach: Array | float, width: Array | float) -> Array:
    """`g^2 / ((q^2 - d)^2 + g^2)`: a parabolic band at one energy. d = `reach` = (E - E_bottom)/c, negative below the
    bottom, and g = `width` = |S''|/c, both in 1/Angstrom^2."""
    return width**2 / ((q**2 - reach) ** 2 + width**2)


def rashba_pair(splitting: float) -> LineShape:
    """Two such parabolas, displaced by +-`splitting` (1/Angstrom)."""

    def shape(q: Array, reach: Array | float, width: Array | float) -> Array:
        return parabola_pair(q - splitting, reach, width) + parabola_pair(q + splitting, reach, width)

    return shape


def cone_pair(q: Array, reach: Array | float, width: Array | float) -> Array:
    """Lorentzians at +-d: the two lines of a cone at one energy. d = `reach` and the half width h, 1/Angstrom."""
    return width**2 / ((q - reach) ** 2 + width**2) + width**2 / ((q + reach) ** 2 + width**2)


@dataclass(frozen=True)
class PairFits:
    """Row by row: `energy` (n,), the pair's `reach` with its standard `error`, and its `width`; the total `misfit`."""

    energy: Array
    reach: Array
    error: Array
    width: Array
    misfit: float


@dataclass(frozen=True)
class Rows:
    """The rows of a table that are bright enough to be fitted, `counts` (n_rows, n_columns), as seen through `blur`."""

    energy: Array
    momentum: Array
    counts: Array
    blur: Blur

    @classmethod
    def of(cls, problem: ClosedBookProblem) -> Rows:
        table = problem.test.table
        counts = table.counts / max(float(table.counts.max()), 1.0)
        mean = counts.mean(axis=1)
        bright = mean >= mean.min() + BRIGHT * np.ptp(mean)
        return cls(table.rows[bright], table.columns, counts[bright], Blur.of(table.columns, problem.fwhm_columns))

    def total_misfit(self, shape: LineShape, center: float, reaches: Array, widths: Array) -> float:
        """Residual sum of squares when each row has its best pair of all `reaches` and `widths`."""
        return float(self._misfits(shape, center, reaches, widths).min(axis=0).sum())

    def symmetry_center(self) -> float:
        """The momentum about which the rows are most alike to their mirror images.

        A row's convolution with itself at 2c is its overlap with its mirror image about c; a slope of the intensity
        with momentum leaves the overlap even.
        """
        lines = self.counts - np.median(self.counts, axis=1, keepdims=True)
        overlap = np.sum([np.convolve(line, line) for line in lines], axis=0)
        places = np.linspace(self.momentum[0], self.momentum[-1], overlap.size)
        low, high = np.quantile(self.momentum, CENTRAL_SHARE)
        return float(places[np.argmax(np.where((places >= low) & (places <= high), overlap, -np.inf))])

    def refined_center(self, shape: LineShape, start: float, reaches: Array, widths: Array) -> float:
        """The common centre within three pixels of `start` that leaves the least misfit."""
        step = self.momentum[1] - self.momentum[0]
        for _ in range(2):
            trials = start + step * np.arange(-3, 4)
            misfits = [self.total_misfit(shape, center, reaches, widths) for center in trials]
            start, step = float(trials[int(np.argmin(misfits))]), step / 3.0
        return start

    def fits(self, shape: LineShape, center: float, reaches: Array, widths: Array) -> PairFits:
        """Row-by-row fits of reach and width about the centre, each started at the row's best trial."""
        q = self.blur.fine - center
        u = self.blur(q) / np.ptp(self.momentum)
        even = np.ones_like(u)
        best = np.argmin(self._misfits(shape, center, reaches, widths), axis=0)
        starts = np.stack(np.meshgrid(reaches, widths, indexing="ij"), axis=-1).reshape(-1, 2)[best]

        def design(parameters: Array) -> Array:
            line = self.blur(shape(q, parameters[0], parameters[1]))
            return np.stack([line, u * line, even], axis=1)

        lower, upper = (reaches[0], 0.5 * widths[0]), (reaches[-1], 2.0 * widths[-1])
        found = [fit_shape(design, row, [start], lower, upper) for row, start in zip(self.counts, starts, strict=True)]
        rising = np.array([fit.heights[0] > 0 for fit in found])
        errors = np.where(rising, [fit.errors[0] for fit in found], np.inf)
        return PairFits(
            self.energy,
            np.array([fit.parameters[0] for fit in found]),
            errors,
            np.array([fit.parameters[1] for fit in found]),
            sum(fit.cost for fit in found),
        )

    def _misfits(self, shape: LineShape, center: float, reaches: Array, widths: Array) -> Array:
        """Residual sums of squares (trials, rows); trials run over all widths for each reach."""
        q = self.momentum - center
        lines = shape(q[:, None, None], reaches[:, None], widths).reshape(q.size, -1)
        lines = np.stack([lines, q[:, None] * lines], axis=-1)
        lines = lines - lines.mean(axis=0)
        data = self.counts - self.counts.mean(axis=1, keepdims=True)
        # Two shapes a trial, made orthogonal by hand: a stack of small QR decompositions would be ten times slower.
        first = lines[..., 0] / (np.linalg.norm(lines[..., 0], axis=0) + 1e-300)
        second = lines[..., 1] - first * np.sum(first * lines[..., 1], axis=0)
        second = second / (np.linalg.norm(second, axis=0) + 1e-300)
        explained = np.clip(data @ first, 0.0, None) ** 2 + (data @ second) ** 2
        misfits: Array = (np.sum(data**2, axis=1)[:, None] - explained).T
        return misfits
