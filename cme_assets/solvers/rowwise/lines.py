"""One line in one curve: Lorentzian broadened by the instrument, fitted by least squares.

Widths say what they are: `fwhm` of the Lorentzian, `sigma` the standard deviation of the Gaussian instrument.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import leastsq
from scipy.special import wofz

from cme_assets.physics.types import Array

FWHM_PER_SIGMA = float(np.sqrt(8.0 * np.log(2.0)))
MAX_CALLS = 200
NARROWEST_IN_SIGMAS = 0.02
"""A Lorentzian below this share of the instrument's sigma cannot be told from none."""


@dataclass(frozen=True)
class Prior:
    """What other curves tell about this one's offset: its `value`, `error`, and the `noise` of a point."""

    value: float
    error: float
    noise: float


@dataclass(frozen=True)
class LineFit:
    """`center` and Lorentzian `fwhm` in the unit of x, `height` of the broadened line above `offset`.

    The errors are standard errors for noise that is independent from point to point; not finite where there is no fit.
    `noise` is the standard deviation of the points about the fit.
    """

    center: float
    fwhm: float
    height: float
    offset: float
    center_error: float
    fwhm_error: float
    offset_error: float = np.inf
    noise: float = np.inf

    @property
    def valid(self) -> bool:
        """Whether the fit converged to a line that stands above its background."""
        return bool(np.isfinite(self.center_error) and np.isfinite(self.fwhm_error) and self.height > 0)


NO_LINE = LineFit(np.nan, np.nan, 0.0, np.nan, np.inf, np.inf)


def instrument_sigma(fwhm: float, pixel: float) -> float:
    """Standard deviation of a Gaussian kernel followed by the average over a pixel: `s^2 + pixel^2/12`."""
    return float(np.hypot(fwhm / FWHM_PER_SIGMA, pixel / np.sqrt(12.0)))


def voigt(x: Array, center: float, fwhm: float, sigma: float) -> Array:
    """Lorentzian of `fwhm` convolved with a Gaussian of `sigma` > 0, scaled to height one at `center`."""
    return _voigt_and_slopes(x, center, 0.5 * fwhm, sigma)[0]


def fit_line(x: Array, y: Array, sigma: float, center: float, fwhm: float, offset: Prior | None = None) -> LineFit:
    """Least-squares Voigt line on a constant offset, started at `center` and `fwhm`; NO_LINE where that fails."""
    if x.size < 6 or np.ptp(y) <= 0 or not np.all(np.isfinite(y)):
        return NO_LINE
    floor = NARROWEST_IN_SIGMAS * sigma
    span = float(np.ptp(x))
    base = offset.value if offset else float(np.median(y))
    start = np.array([center, max(0.5 * fwhm, floor), float(np.interp(center, x, y)) - base, base])
    pull = offset.noise / offset.error if offset else 0.0

    @lru_cache(maxsize=1)
    def line_and_slopes(at: float, half: float) -> tuple[Array, Array, Array]:
        # The search asks for the slopes where it has just asked for the line.
        return _voigt_and_slopes(x, at, abs(half) + floor, sigma)

    def residual(parameters: Array) -> Array:
        at, half, height, level = parameters
        misfit = height * line_and_slopes(at, half)[0] + level - y
        return np.append(misfit, pull * (level - base))

    def jacobian(parameters: Array) -> Array:
        at, half, height, _ = parameters
        line, by_center, by_half = line_and_slopes(at, half)
        slopes = np.stack([height * by_center, height * by_half * np.sign(half), line, np.ones_like(x)])
        return np.append(slopes, [[0.0], [0.0], [0.0], [pull]], axis=1)

    found, covariance, _, _, status = leastsq(
        residual, start, Dfun=jacobian, col_deriv=True, full_output=True, maxfev=MAX_CALLS
    )
    at, half, height, level = (float(value) for value in found)
    inside = x[0] - 0.1 * span <= at <= x[-1] + 0.1 * span
    if covariance is None or status not in (1, 2, 3, 4) or not inside or abs(half) > span:
        return NO_LINE
    noise = float(np.sqrt(np.sum(residual(found) ** 2) / (x.size - start.size)))
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * max(noise, np.finfo(float).tiny)
    return LineFit(
        at,
        2.0 * (abs(half) + floor),
        height,
        level,
        float(errors[0]),
        2.0 * float(errors[1]),
        float(errors[3]),
        noise,
    )


def _voigt_and_slopes(x: Array, center: float, hwhm: float, sigma: float) -> tuple[Array, Array, Array]:
    """The unit-height line and its derivatives by center and hwhm, from the Faddeeva function w(z)."""
    unit = sigma * np.sqrt(2.0)
    z = (x - center + 1j * hwhm) / unit
    w = wofz(z)
    slope = -2.0 * z * w + 2j / np.sqrt(np.pi)
    z_peak = 1j * hwhm / unit
    w_peak = wofz(z_peak)
    peak = w_peak.real
    peak_by_hwhm = (1j * (-2.0 * z_peak * w_peak + 2j / np.sqrt(np.pi)) / unit).real
    line = w.real / peak
    by_hwhm = (1j * slope / unit).real / peak - line * peak_by_hwhm / peak
    return line, -slope.real / unit / peak, by_hwhm
