"""One line in every row of a map: where it runs, and the row-by-row fits along it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.optimize import least_squares

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.physics.types import Array, Mask
from cme_assets.solvers.rowwise.edges import fit_edge
from cme_assets.solvers.rowwise.lines import NO_LINE, LineFit, Prior, fit_line, instrument_sigma
from cme_assets.tables import Table

SMOOTHING_PIXELS = 2.0
STIFFNESS = 0.02
"""What the ridge pays for one pixel of sideways step, squared, in units of a row's height."""
FARTHEST_STEP = 12
"""Largest sideways step of the ridge from one row to the next, pixels."""
WIDEST_MISS = 5.0
"""A fitted line this many of its half widths away from the ridge has been caught by something else."""

FEWEST_ROWS = 8
CORRELATION = 1.6
"""Specks cover several pixels: true errors of a row's fit exceed those for independent points by about this factor."""
SURE_COUNTS = 2.0
"""No background is taken to be known better than this, counts (of 1000 at the map's maximum)."""
NORMAL_MEDIAN_SQUARE = 0.4549
"""Median of the square of a standard normal number."""


@dataclass(frozen=True)
class RowFits:
    """Row-by-row results: `energy`, `center`, `fwhm`, `offset` (n,) in the table's units with standard errors.

    All finite; `noise` (n,) is the standard deviation of a row's counts about its fit.
    """

    energy: Array
    center: Array
    center_error: Array
    fwhm: Array
    fwhm_error: Array
    offset: Array
    offset_error: Array
    noise: Array

    def __len__(self) -> int:
        return self.energy.size

    def where(self, keep: Mask) -> RowFits:
        """The rows for which `keep` holds."""
        return RowFits(*(getattr(self, field.name)[keep] for field in fields(self)))


def pixel_of(axis: Array) -> float:
    """Spacing of an axis."""
    return float(axis[-1] - axis[0]) / max(axis.size - 1, 1)


def fermi_level(problem: ClosedBookProblem, exhibit: Exhibit) -> float:
    """The Fermi energy from the edge of the momentum-integrated map, eV.

    The integral of a band over momentum is flat in energy, so the edge is the Fermi function's. Where the rows below
    the Fermi level are listed, it lies between the last of them and the next row.
    """
    table = exhibit.table
    fitted = fit_edge(table.rows, table.counts.mean(axis=1), problem.fwhm_rows).fermi_energy
    if exhibit.listed is None or exhibit.listed.axis != "row":
        return fitted
    last = exhibit.listed.values[-1]
    return float(np.clip(fitted, last, last + pixel_of(table.rows)))


def ridge(counts: NDArray[Any]) -> NDArray[np.intp]:
    """Column position of the brightest connected path from the first to the last row, (n_rows,).

    Dynamic programming on the smoothed map, each row scaled to unit height, with a price on sideways steps.
    """
    smooth = gaussian_filter(np.asarray(counts, dtype=float), SMOOTHING_PIXELS, mode="nearest")
    smooth -= np.median(smooth, axis=1, keepdims=True)
    height = smooth.max(axis=1, keepdims=True)
    gain = smooth / np.where(height > 0, height, 1.0)
    steps = np.arange(-FARTHEST_STEP, FARTHEST_STEP + 1)
    price = STIFFNESS * steps**2
    columns = gain.shape[1]
    from_column = np.arange(columns)[:, None] + steps[None, :]
    outside = (from_column < 0) | (from_column >= columns)
    from_column = np.clip(from_column, 0, columns - 1)
    total = gain[0]
    choices = np.zeros(gain.shape, dtype=int)
    for row in range(1, gain.shape[0]):
        offers = np.where(outside, -np.inf, total[from_column] - price)
        best = np.argmax(offers, axis=1)
        choices[row] = from_column[np.arange(columns), best]
        total = gain[row] + offers[np.arange(columns), best]
    path = np.empty(gain.shape[0], dtype=int)
    path[-1] = int(np.argmax(total))
    for row in range(gain.shape[0] - 1, 0, -1):
        path[row - 1] = choices[row, path[row]]
    return path


@dataclass(frozen=True)
class Background:
    """A background that is linear in energy: `level + slope (E - middle)`, known to `error`; `noise` of a point."""

    middle: float
    level: float
    slope: float
    error: float
    noise: float

    def at(self, energy: float) -> Prior:
        """What it says about the row at `energy`."""
        return Prior(self.level + self.slope * (energy - self.middle), self.error, self.noise)


def fit_rows(
    table: Table,
    keep: Mask,
    fwhm_rows: float,
    fwhm_columns: float,
    guess: Array,
    slope: Array | float,
    background: Background | None = None,
) -> RowFits:
    """Voigt fits of the rows that `keep` marks, started at momentum `guess` (n_kept,); failed rows are left out.

    The energy kernel and the height of a row smear a line of slope |dk/dE| = `slope` (Angstrom/eV) in momentum.
    """
    k, energy = table.columns, table.rows[keep]
    along = instrument_sigma(fwhm_columns, pixel_of(k))
    across = instrument_sigma(fwhm_rows, pixel_of(table.rows)) * np.abs(np.broadcast_to(slope, guess.shape))
    sigmas = np.hypot(along, across)
    fits: list[LineFit] = []
    width = 6.0 * pixel_of(k)
    for at, counts, sigma, start in zip(energy, table.counts[keep].astype(float), sigmas, guess, strict=True):
        fit = fit_line(k, counts, float(sigma), float(start), width, background.at(at) if background else None)
        if fit.valid and abs(fit.center - start) > WIDEST_MISS * max(0.5 * fit.fwhm, pixel_of(k)):
            fit = NO_LINE
        if fit.valid:
            width = 0.5 * (width + fit.fwhm)
        fits.append(fit)
    good = np.array([fit.valid for fit in fits], dtype=bool)
    names = [field.name for field in fields(RowFits)][1:]
    columns = [np.array([getattr(fit, name) for fit in fits], dtype=float)[good] for name in names]
    return RowFits(energy[good], *columns)


def common_background(rows: RowFits) -> Background | None:
    """The straight line through the rows' offsets; its error is the scatter that their own errors do not explain.

    One row tells a broad line from its background badly; all rows together do not. None with too few rows.
    """
    if len(rows) < FEWEST_ROWS:
        return None
    middle, noise = float(np.mean(rows.energy)), float(np.median(rows.noise))
    error = CORRELATION * np.maximum(rows.offset_error, 1e-3)
    at = rows.energy - middle
    fit = least_squares(
        lambda p: (p[0] + p[1] * at - rows.offset) / error,
        [np.median(rows.offset), 0.0],
        loss="soft_l1",
        x_scale=[1, 10],
    )
    misfit = rows.offset - fit.x[0] - fit.x[1] * at
    excess = float(np.median(misfit**2) / NORMAL_MEDIAN_SQUARE - np.median(error**2))
    return Background(
        middle, float(fit.x[0]), float(fit.x[1]), float(np.sqrt(max(excess, SURE_COUNTS**2))), max(noise, 1e-3)
    )
