"""Two-dimensional tight-binding bands and the areas they occupy. Wave vectors times lattice constant are in radians."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from cme_assets.physics.types import Array

Band = Callable[[Array, Array], Array]
"""eps(kx a, ky a) in eV from the Fermi level, arguments broadcast."""

AREA_COLUMNS = 1000
SOLVER_COLUMNS = 200


def one_band(kx: Array, ky: Array, t: float, t1: float, t2: float, chemical_potential: float) -> Array:
    """`-2t (cx + cy) - 4t' cx cy - 2t'' (c2x + c2y) - mu`, the one-band cuprate (t1 = t', t2 = t'', signed, eV)."""
    cx, cy = np.cos(kx), np.cos(ky)
    return (
        -2.0 * t * (cx + cy)
        - 4.0 * t1 * cx * cy
        - 2.0 * t2 * (np.cos(2.0 * kx) + np.cos(2.0 * ky))
        - chemical_potential
    )


def bilayer_splitting(kx: Array, ky: Array, t_perpendicular: float) -> Array:
    """`t_perp (cx - cy)^2 / 4`: the bonding sheet lies this far below the mean band, the antibonding above it."""
    return 0.25 * t_perpendicular * (np.cos(kx) - np.cos(ky)) ** 2


def ruthenate_xz_yz(kx: Array, ky: Array, t: float, t2: float, chemical_potential: float) -> tuple[Array, Array]:
    """Sr2RuO4's alpha and beta bands: `-mu - t (cx + cy) -+ sqrt(t^2 (cx - cy)^2 + 16 t2^2 sx^2 sy^2)`, alpha first."""
    cx, cy = np.cos(kx), np.cos(ky)
    root = np.sqrt((t * (cx - cy)) ** 2 + (4.0 * t2 * np.sin(kx) * np.sin(ky)) ** 2)
    middle = -chemical_potential - t * (cx + cy)
    return middle - root, middle + root


def occupied_fraction(band: Band, columns: int = AREA_COLUMNS) -> float:
    """Share of the Brillouin zone with eps < 0, for bands with the square's symmetry.

    One quadrant is cut into columns; along each the crossings are found by linear interpolation between as many
    rows, so that the error falls as 1/columns^2 (below 3e-5 at the default for the bands used here).
    """
    centers = (np.arange(columns) + 0.5) * (np.pi / columns)
    nodes = np.linspace(0.0, np.pi, columns + 1)
    energy = band(centers[None, :], nodes[:, None])
    lower, upper = energy[:-1], energy[1:]
    both = (lower < 0) & (upper < 0)
    crossing = (lower < 0) != (upper < 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(lower < 0, lower, upper) / np.where(lower < 0, lower - upper, upper - lower)
    return float(np.where(crossing, share, both).mean())


def doping(occupied: float) -> float:
    """Hole doping `p = 1 - 2 A_occ / A_BZ` of one sheet with two electrons in a full band; zero at half filling."""
    return 1.0 - 2.0 * occupied


def chemical_potential_for(band_at: Callable[[float], Band], target: float, low: float, high: float) -> float:
    """The chemical potential between `low` and `high` (eV) at which the sheet has the doping `target`.

    Solved on a coarser grid than `occupied_fraction`'s own: the doping met is within 5e-4 of `target`.
    """
    return float(
        brentq(lambda mu: doping(occupied_fraction(band_at(mu), SOLVER_COLUMNS)) - target, low, high, xtol=1e-10)
    )
