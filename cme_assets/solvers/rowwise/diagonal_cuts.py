"""A Fermi-surface map as cuts parallel to the zone diagonal, and the area inside a contour drawn on them.

With u = (kx + ky)/sqrt(2) along a cut and v = |kx - ky|/sqrt(2) from cut to cut, every sheet around the zone's centre
or corner is one point u(v) of each cut, whether it closes around the centre or around the corner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import RectBivariateSpline

from cme_assets.physics.types import Array, Mask
from cme_assets.tables import Table

CUT_STEP = 0.012
ALONG_STEP = 0.007
"""Spacings of cuts and of points along them, 1/Angstrom."""
SMOOTHING_POINTS = 3


@dataclass(frozen=True)
class DiagonalCuts:
    """`values` (cuts, points) at `v` (cuts,) and `u` (points,), 1/Angstrom; outside the map they are not a number.

    `zone` is pi/a; the map is folded about the diagonal, which halves the noise.
    """

    v: Array
    u: Array
    values: Array
    zone: float

    @classmethod
    def of(cls, table: Table, lattice_constant: float) -> DiagonalCuts:
        """The map of `table`, in which x and y are equivalent, scaled to a maximum of one."""
        zone = np.pi / lattice_constant
        counts = table.counts / max(float(table.counts.max()), 1.0)
        spline = RectBivariateSpline(table.rows, table.columns, counts, kx=3, ky=3)
        v = np.arange(0.0, zone / np.sqrt(2.0), CUT_STEP)
        end = np.sqrt(2.0) * float(max(table.rows[-1], table.columns[-1]))
        u = np.arange(0.0, end, ALONG_STEP)
        more, less = (u + v[:, None]) / np.sqrt(2.0), (u - v[:, None]) / np.sqrt(2.0)
        halves = [_sampled(spline, table, x, y) for x, y in ((more, less), (less, more))]
        seen = np.sum([np.isfinite(half) for half in halves], axis=0)
        total = np.sum([np.nan_to_num(half) for half in halves], axis=0)
        return cls(v, u, np.where(seen > 0, total / np.maximum(seen, 1), np.nan), zone)

    def inside(self, contour: Array) -> Mask:
        """Which points (..., cuts) of contours u(v) lie in the first quadrant of the zone."""
        inside: Mask = (contour > self.v) & (contour < np.sqrt(2.0) * self.zone - self.v)
        return inside

    def doping(self, contour: Array) -> float:
        """`1 - 2 A_occ/A_BZ` when the side of the contour u(v) (cuts,) towards the centre is occupied."""
        v = np.linspace(0.0, self.zone / np.sqrt(2.0), 20 * self.v.size)
        end = np.clip(np.interp(v, self.v, contour), v, np.sqrt(2.0) * self.zone - v)
        occupied = 2.0 * float(np.trapezoid(end - v, v)) / self.zone**2
        return 1.0 - 2.0 * occupied

    def relief(self) -> Array:
        """The map for judging ridges by eye: each cut smoothed, above its median, with unit height; zero outside."""
        kernel = np.ones(SMOOTHING_POINTS) / SMOOTHING_POINTS
        relief = np.zeros_like(self.values)
        for cut, values in zip(relief, self.values, strict=True):
            seen = np.isfinite(values)
            if seen.sum() > 2 * SMOOTHING_POINTS:
                smooth = np.convolve(np.pad(values[seen], SMOOTHING_POINTS // 2, mode="edge"), kernel, mode="valid")
                height = smooth - np.median(smooth)
                cut[seen] = height / max(float(height.max()), 1e-12)
        return relief

    def along(self, relief: Array, contours: Array) -> Array:
        """The relief at contours u(v) (..., cuts), linearly interpolated along each cut."""
        place = np.clip(contours / ALONG_STEP, 0.0, self.u.size - 1.001)
        below = place.astype(int)
        part = place - below
        cut = np.arange(self.v.size)
        values: Array = relief[cut, below] * (1.0 - part) + relief[cut, below + 1] * part
        return values


def _sampled(spline: RectBivariateSpline, table: Table, x: Array, y: Array) -> Array:
    """The map at momenta x, y; not a number beyond the outermost pixel centres."""
    known = (x >= table.columns[0]) & (x <= table.columns[-1]) & (y >= table.rows[0]) & (y <= table.rows[-1])
    return np.where(known, spline.ev(y, x), np.nan)
