"""Smoothing a measured curve as far as its scatter calls for."""

from __future__ import annotations

import numpy as np

from cme_assets.physics.types import Array

HALF_WIDTHS = (2.5, 4.5, 7.0, 11.0, 17.0, 26.0, 40.0)
"""Trial reaches of the smoothing, in points."""
GAP = 3
"""Points on either side that are left out with the one predicted: the noise of neighbours is alike."""
OUTLIER = 4.0
PASSES = 3
LEAST_POINTS = 5


def smooth_curve(x: Array, y: Array, error: Array, wanted: Array) -> Array:
    """The curve at `wanted` places from points `y` (n,) at equally spaced `x` with standard errors up to a factor.

    A parabola is fitted to the neighbourhood of each place (Cleveland's local regression), over the reach that best
    predicts each point from the others (cross-validation). Points far off the smooth curve are left out.
    """
    step = (x[-1] - x[0]) / (x.size - 1)
    weight = 1.0 / error**2
    weight = weight / weight.max()
    for _ in range(PASSES):
        reach = min(HALF_WIDTHS, key=lambda trial: _prediction_error(x, y, weight, trial * step, GAP * step))
        pull = np.abs(y - _local_parabola(x, y, weight, x, reach * step)) * np.sqrt(weight)
        kept = weight > 0
        weight = np.where(pull > OUTLIER * max(float(np.median(pull[kept])), 1e-9), 0.0, weight)
    return _local_parabola(x, y, weight, wanted, reach * step)


def _prediction_error(x: Array, y: Array, weight: Array, reach: float, gap: float) -> float:
    """Weighted mean absolute deviation of every point from the curve through the points at least `gap` away."""
    predicted = _local_parabola(x, y, weight, x, reach + gap, gap)
    return float(np.sum(np.sqrt(weight) * np.abs(y - predicted)))


def _local_parabola(x: Array, y: Array, weight: Array, places: Array, reach: float, gap: float = -1.0) -> Array:
    """Values at `places` (m,) of parabolas fitted with a tricube window; the window grows where points are few."""
    distance = np.abs(places[:, None] - x[None, :])
    usable = (distance > gap) & (weight > 0)
    ranked = np.sort(np.where(usable, distance, np.inf), axis=1)
    nearest = ranked[:, min(LEAST_POINTS, x.size) - 1]
    span = np.maximum(reach, np.where(np.isfinite(nearest), nearest, 0.0) * 1.001)[:, None]
    window = np.where(usable, np.clip(1.0 - (distance / span) ** 3, 0.0, None) ** 3, 0.0) * weight
    u = (x[None, :] - places[:, None]) / span
    powers = u[..., None] ** np.arange(3)
    normal = (
        np.einsum("mi,mia,mib->mab", window, powers, powers) + 1e-12 * np.eye(3) * window.sum(axis=1)[:, None, None]
    )
    moments = np.einsum("mi,mia,i->ma", window, powers, y)
    return np.array(
        [np.linalg.lstsq(matrix, moment, rcond=1e-13)[0][0] for matrix, moment in zip(normal, moments, strict=True)]
    )
