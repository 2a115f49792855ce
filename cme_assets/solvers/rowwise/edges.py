"""The Fermi edge of an energy distribution curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.special import ndtr

from cme_assets.physics.thermal import fermi
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.lines import FWHM_PER_SIGMA

OVERSAMPLING = 8
PADDING_SIGMAS = 5.0
TEMPERATURES = (4.0, 600.0)
"""Limits of a fitted temperature, K: below the first the edge is the instrument's."""


@dataclass(frozen=True)
class EdgeFit:
    """`fermi_energy` on the curve's axis, eV; `temperature` in K; `error` is the standard error of the first, eV."""

    fermi_energy: float
    temperature: float
    error: float


def fit_edge(energy: Array, curve: Array, fwhm_energy: float, temperature: float | None = None) -> EdgeFit:
    """Least-squares fit of `(a + b w) f(w, T)` on a constant, through the instrument and the pixel average.

    `energy` (n,) are pixel centres of one spacing, `fwhm_energy` the Gaussian kernel, eV. The temperature is fitted
    unless given. Without an edge the steepest descent of the curve is returned with an infinite error.
    """
    spread = float(np.ptp(curve))
    steepest = steepest_descent(energy, curve)
    if spread <= 0 or energy.size < 8:
        return EdgeFit(steepest, temperature or TEMPERATURES[0], np.inf)
    fine, response = _instrument(energy, fwhm_energy)
    unit = (curve - curve.min()) / spread
    span = float(np.ptp(energy))

    def model(parameters: Array) -> Array:
        """Best (a, b, constant) for the two shape parameters: those three enter linearly."""
        w = fine - parameters[0]
        occupied = response @ fermi(w, temperature if temperature else float(np.exp(parameters[1])))
        sloped = response @ (w * fermi(w, temperature if temperature else float(np.exp(parameters[1]))))
        basis = np.stack([occupied, sloped, np.ones_like(energy)], axis=1)
        weights, *_ = np.linalg.lstsq(basis, unit, rcond=None)
        return basis @ weights - unit

    best = None
    for kelvin in (15.0, 150.0) if temperature is None else (temperature,):
        start = [steepest] if temperature else [steepest, np.log(kelvin)]
        low = [energy[0] - 0.1 * span, *([] if temperature else [np.log(TEMPERATURES[0])])]
        high = [energy[-1] + 0.1 * span, *([] if temperature else [np.log(TEMPERATURES[1])])]
        scale = [0.01, *([] if temperature else [1.0])]
        fit = least_squares(model, start, bounds=(low, high), x_scale=scale, max_nfev=60)
        if best is None or fit.cost < best.cost:
            best = fit
    assert best is not None
    curvature = best.jac.T @ best.jac
    variance = 2.0 * best.cost / max(energy.size - 5, 1)
    error = float(np.sqrt(variance * np.linalg.pinv(curvature)[0, 0])) if curvature[0, 0] > 0 else np.inf
    return EdgeFit(float(best.x[0]), temperature or float(np.exp(best.x[1])), error)


def steepest_descent(energy: Array, curve: Array) -> float:
    """Where the curve, smoothed over five points, falls fastest."""
    padded = np.pad(np.asarray(curve, dtype=float), 2, mode="edge")
    smooth = np.convolve(padded, np.ones(5) / 5.0, mode="valid")
    return float(energy[np.argmin(np.gradient(smooth))])


def _instrument(energy: Array, fwhm: float) -> tuple[Array, Array]:
    """A fine grid and the matrix (n, fine) that broadens it by the kernel and averages over each pixel."""
    pixel = float(energy[-1] - energy[0]) / (energy.size - 1)
    sigma = max(fwhm / FWHM_PER_SIGMA, 1e-6)
    step = pixel / OVERSAMPLING
    padding = int(np.ceil(PADDING_SIGMAS * sigma / step)) + OVERSAMPLING
    start = energy[0] - 0.5 * pixel
    fine = start + (np.arange(energy.size * OVERSAMPLING + 2 * padding) - padding + 0.5) * step
    edges = start + pixel * np.arange(energy.size + 1)
    return fine, np.diff(ndtr((edges[:, None] - fine[None, :]) / sigma), axis=0) * (step / pixel)
