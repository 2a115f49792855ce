"""What the energy-momentum maps of domains A to D share: ranges, Fermi cut-off, matrix element, background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cme_assets.physics.resolution import Instrument
from cme_assets.physics.spectral import voigt_fwhm
from cme_assets.physics.thermal import fermi
from cme_assets.physics.types import Array
from cme_assets.tasks.category import GAMMA_MOMENTUM, Listed, MapAxes, Window
from cme_assets.tasks.ranges import Declared, Parameters, Uniform

LOWEST_RATE = 0.005
"""Smallest impurity rate, eV: narrower lines are not seen by photoemission."""

COARSEST, STANDARD = 50, 100
"""Side lengths of the coarsest table, whose pixels most lines must fill or they alias, and of the standard one."""


def surroundings(temperature: tuple[float, float] = (10.0, 30.0)) -> dict[str, Declared]:
    """Parameters that every map has: Fermi energy, temperature, background at both ends, place in the window."""
    return {
        "E_F": Uniform(2.0, 30.0),
        "T": Uniform(*temperature),
        "background_bottom": Uniform(0.0, 0.05),
        "background_top": Uniform(0.0, 0.05),
        "margin_share": Uniform(0.3, 0.7),
    }


def matrix_element(
    window: Callable[[Parameters], Window], hwhm_momentum: Callable[[Parameters], float] | None = None
) -> dict[str, Declared]:
    """`|M|^2 = 1 + m1 u + m2 u^2` with u from -1 to 1 across the window.

    A slope s of ln|M|^2 moves a momentum distribution's peak by about s h^2/2, h its half width (1/Angstrom); m1 is
    bounded so that this stays below half the score's tolerance.
    """

    def slope(p: dict[str, Any]) -> Uniform:
        limit = 0.5
        if hwhm_momentum is not None:
            left, right = window(p).x
            limit = min(limit, GAMMA_MOMENTUM * 0.5 * (right - left) / (2.0 * hwhm_momentum(p) ** 2))
        return Uniform(-limit, limit)

    return {"m1": slope, "m2": Uniform(0.0, 0.3)}


def photoemission_map(p: Parameters, window: Window, spectral: Array, k: Array, energy: Array) -> Array:
    """`[|M(k)|^2 A(k, w) + B(w)] f(w, T)`: `spectral` is the sum of A over bands, (n_w, n_k); so is the result.

    The background is linear between its two ends, which are given as fractions of the map's peak.
    """
    u = window.across_x(k)
    occupied = fermi(energy, p["T"])[:, None]
    signal = spectral * (1.0 + p["m1"] * u + p["m2"] * u**2) * occupied
    rise = 0.5 * (1.0 + window.across_y(energy))
    background = p["background_bottom"] + (p["background_top"] - p["background_bottom"]) * np.clip(rise, 0.0, 1.0)
    return signal + window.peak(signal, k, energy) * background[:, None] * occupied


def spans_a_pixel(fwhm_momentum: float, width: float) -> bool:
    """Whether a line, after the momentum kernel, is as wide as a pixel of the standard table over `width` (1/Angstrom).

    The weaker demand of the categories whose ranges leave no room for the impurity floor; their sharpest lines may
    fall between the pixels of the coarsest table.
    """
    return voigt_fwhm(fwhm_momentum, Instrument().momentum_width) >= width / STANDARD


def place_window(low: float, high: float, width: float, share: float) -> tuple[float, float]:
    """An interval of `width` around [low, high], `share` of the spare room below it: no answer is its centre."""
    start = low - share * (width - (high - low))
    return start, start + width


def occupied_rows(_: Parameters, axes: MapAxes) -> Listed:
    """All rows below the Fermi level."""
    return Listed.where("y", axes.y.centers < 0)


def scalar(value: float) -> Array:
    """A scalar answer as an array of one."""
    return np.array([value])
