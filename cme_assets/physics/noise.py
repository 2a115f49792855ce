"""Speck noise: many small Gaussian spots at random places, as the published benchmark scatters over its spectra."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from cme_assets.physics.resolution import PixelAxis
from cme_assets.physics.types import Array

PADDING_SIGMAS = 5.0
REACH_SIGMAS = 7.0
"""Beyond this distance a speck's share of a pixel is below 1e-11 of the whole and is left out."""


@dataclass(frozen=True)
class Specks:
    """Expected number of specks in the shown window and the standard deviations of one speck along y and x."""

    count: int
    sigma_y: float
    sigma_x: float


def speck_field(rng: np.random.Generator, specks: Specks, y: PixelAxis, x: PixelAxis) -> Array:
    """A speck field (y.size, x.size) whose mean over the window is one.

    Positions are uniform over the window widened by PADDING_SIGMAS, in physical units and independent of the pixel
    size, so that the same generator gives the same specks at every resolution. Each pixel holds its bin average.
    """
    positions_y, positions_x = _positions(rng, specks, y, x)
    shares_y = _pixel_shares(positions_y, specks.sigma_y, y)
    shares_x = _pixel_shares(positions_x, specks.sigma_x, x)
    field = shares_y.T @ shares_x
    return field / field.mean()


def _positions(rng: np.random.Generator, specks: Specks, y: PixelAxis, x: PixelAxis) -> tuple[Array, Array]:
    extent = np.array([y.stop - y.start, x.stop - x.start])
    margin = PADDING_SIGMAS * np.array([specks.sigma_y, specks.sigma_x])
    count = round(specks.count * float(np.prod(1.0 + 2.0 * margin / extent)))
    unit = rng.random((count, 2))
    places = np.array([y.start, x.start]) - margin + unit * (extent + 2.0 * margin)
    return places[:, 0], places[:, 1]


def _pixel_shares(positions: Array, sigma: float, axis: PixelAxis) -> Array:
    """Share of each speck in each pixel, (specks, size), zero beyond the reach."""
    reach = int(np.ceil(REACH_SIGMAS * sigma / axis.pixel))
    home = np.floor((positions - axis.start) / axis.pixel).astype(int)
    edge = home[:, None] + np.arange(-reach, reach + 2)
    below = ndtr((axis.start + edge * axis.pixel - positions[:, None]) / sigma)
    # A margin of `reach` pixels on both sides takes what falls outside the window, so that no index needs a test.
    margin = reach + int(np.ceil(PADDING_SIGMAS * sigma / axis.pixel)) + 1
    width = axis.size + 2 * margin
    shares = np.zeros((positions.size, width))
    flat = edge[:, :-1] + margin + width * np.arange(positions.size)[:, None]
    shares.ravel()[flat] = np.diff(below, axis=1)
    return shares[:, margin : margin + axis.size]
