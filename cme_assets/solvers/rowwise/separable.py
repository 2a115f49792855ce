"""Least squares where the heights are linear: only positions and widths are searched for.

A line is modelled as `design(parameters) @ heights`; for every trial of the parameters the heights follow from linear
least squares (variable projection, Golub and Pereyra 1973).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from cme_assets.physics.resolution import PixelAxis, pixel_response
from cme_assets.physics.types import Array

Design = Callable[[Array], Array]
"""From parameters (n,) to the shapes (points, shapes) whose heights are linear."""

GAUSSIAN_SIGMA = 1.0 / float(np.sqrt(8.0 * np.log(2.0)))
"""Standard deviation over full width at half maximum."""


@dataclass(frozen=True)
class ShapeFit:
    """A fitted line: `parameters` and their standard `errors`, the linear `heights`, the residual sum of squares."""

    parameters: Array
    errors: Array
    heights: Array
    cost: float


def linear_heights(shapes: Array, data: Array) -> Array:
    """Least-squares heights of the `shapes` (points, shapes) in `data` (points,) or (points, lines)."""
    scale = np.sqrt(np.mean(shapes**2, axis=0)) + 1e-300
    heights: Array = np.linalg.lstsq(np.nan_to_num(shapes / scale), data, rcond=1e-10)[0]
    return (heights.T / scale).T


def fit_shape(
    design: Design,
    data: Array,
    starts: Iterable[Sequence[float] | Array],
    lower: Sequence[float] | Array,
    upper: Sequence[float] | Array,
    prior: tuple[Array, Array] | None = None,
) -> ShapeFit:
    """The best fit of `design` to `data` (points,) from any of `starts`, inside the box from `lower` to `upper`.

    `prior` pulls the parameters towards its first array; its second holds the inverse of the allowed deviations times
    the expected residual (zero for a free parameter). Values outside the box are moved into it, so that any start
    will do.
    """
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)

    def residuals(parameters: Array) -> Array:
        shapes = design(parameters)
        misfit = shapes @ linear_heights(shapes, data) - data
        if prior is None:
            return misfit
        return np.concatenate([misfit, prior[1] * (parameters - prior[0])])

    edge = 1e-6 * (high - low)
    fits = [
        least_squares(
            residuals,
            np.clip(start, low + edge, high - edge),
            bounds=(low, high),
            x_scale=high - low,
            xtol=1e-7,
            ftol=1e-9,
            max_nfev=60,
        )
        for start in starts
    ]
    best = min(fits, key=lambda fit: fit.cost)
    return ShapeFit(best.x, _errors(best.jac, 2.0 * best.cost), linear_heights(design(best.x), data), 2.0 * best.cost)


def _errors(jacobian: Array, cost: float) -> Array:
    """Standard errors of the parameters, as if residuals were independent: right up to a factor common to all lines."""
    freedom = max(jacobian.shape[0] - jacobian.shape[1], 1)
    curvature = jacobian.T @ jacobian
    variance = np.diag(np.linalg.pinv(curvature)) * cost / freedom
    unseen = np.diag(curvature) <= 0.0
    return np.where(unseen, np.inf, np.sqrt(np.clip(variance, 0.0, None)))


@dataclass(frozen=True)
class Blur:
    """How a table's axis sees a sharp curve: `response @ curve(fine)` are the pixel means after the Gaussian kernel."""

    fine: Array
    response: Array

    @classmethod
    def of(cls, centers: Array, fwhm: float) -> Blur:
        """For pixels at equally spaced `centers` and a kernel of full width `fwhm`."""
        step = (centers[-1] - centers[0]) / (centers.size - 1)
        axis = PixelAxis(float(centers[0] - 0.5 * step), float(centers[-1] + 0.5 * step), centers.size)
        sigma = fwhm * GAUSSIAN_SIGMA
        fine = axis.fine(sigma)
        return cls(fine, pixel_response(axis, fine, sigma))

    def __call__(self, shapes: Array) -> Array:
        """Pixel means of `shapes` (fine points,) or (fine points, shapes)."""
        return self.response @ shapes


def straight(values: Array) -> Array:
    """A constant and a slope over the axis `values`, (n, 2)."""
    return np.stack([np.ones_like(values), (values - values.mean()) / np.ptp(values)], axis=1)
