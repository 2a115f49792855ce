"""Domain E: dopings from Fermi surfaces (E1 to E4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cme_assets.physics.fermi_surfaces import (
    Band,
    bilayer_splitting,
    chemical_potential_for,
    doping,
    occupied_fraction,
    one_band,
    ruthenate_xz_yz,
)
from cme_assets.physics.spectral import lorentzian
from cme_assets.physics.types import Array
from cme_assets.tasks.category import (
    GAMMA_DOPING,
    NOISE_LEVELS,
    Category,
    Given,
    MapAxes,
    MapKind,
    Quantity,
    Shape,
    Window,
    constant,
)
from cme_assets.tasks.photoemission import spans_a_pixel
from cme_assets.tasks.ranges import Declared, Parameters, Uniform

SIDE = 0.98
"""Width of the map on both axes, 1/Angstrom: one quadrant of the zone and a little more."""

Sheets = Callable[[Parameters], Sequence[Band]]
"""The bands of one draw, in the order in which their dopings are asked for."""


def _surroundings() -> dict[str, Declared]:
    """What every map has. The matrix element is a product of one factor an axis.

    Lines are narrower here than in the energy-momentum maps (half widths mostly below 0.03 1/Angstrom), so that
    |m| <= 0.5 moves no contour visibly.
    """
    return {
        "a": Uniform(3.80, 3.95),
        "x_start": Uniform(-0.10, -0.03),
        "y_start": Uniform(-0.10, -0.03),
        "background": Uniform(0.0, 0.05),
        "G": Uniform(0.020, 0.040),
        "m1_x": Uniform(-0.5, 0.5),
        "m2_x": Uniform(0.0, 0.3),
        "m1_y": Uniform(-0.5, 0.5),
        "m2_y": Uniform(0.0, 0.3),
    }


def _window(p: Parameters) -> Window:
    return Window((p["x_start"], p["x_start"] + SIDE), (p["y_start"], p["y_start"] + SIDE))


def _factor(u: Array, m1: float, m2: float) -> Array:
    return 1.0 + m1 * u + m2 * u**2


def _intensity_of(sheets: Sheets) -> Callable[[Parameters, Array, Array], Array]:
    def intensity(p: Parameters, kx: Array, ky: Array) -> Array:
        x, y = kx * p["a"], ky[:, None] * p["a"]
        total = np.zeros((ky.size, kx.size))
        for band in sheets(p):
            total += lorentzian(band(x, y), 0.0, p["G"])
        window = _window(p)
        along_x = _factor(window.across_x(kx), p["m1_x"], p["m2_x"])
        along_y = _factor(window.across_y(ky), p["m1_y"], p["m2_y"])
        signal = total * along_x * along_y[:, None]
        return signal + p["background"] * window.peak(signal, kx, ky)

    return intensity


def _dopings_of(sheets: Sheets) -> Callable[[Parameters, MapAxes], Array]:
    return lambda p, _: np.array([doping(occupied_fraction(band)) for band in sheets(p)])


def _measurable(sheets: Sheets) -> Callable[[Parameters], bool]:
    """The draws kept: no sheet within two half widths of its saddle point (pi, 0), where the contour cannot be told,
    and no line narrower than a pixel of the standard table."""

    def accept(p: Parameters) -> bool:
        saddle = np.array(np.pi), np.array(0.0)
        return all(
            abs(float(band(*saddle))) >= 2.0 * p["G"] and spans_a_pixel(2.0 * p["G"] / (_fastest(band) * p["a"]), SIDE)
            for band in sheets(p)
        )

    return accept


def _fastest(band: Band, points: int = 128) -> float:
    """Largest |d eps / d(k a)| near the contour, eV: where the line is narrowest."""
    k = np.linspace(0.0, np.pi, points)
    energy = band(k, k[:, None])
    slope = np.hypot(*np.gradient(energy, k, k))
    return float(slope[np.abs(energy) < slope * (k[1] - k[0])].max())


def _one_band_at(t: float, t1: float, t2: float) -> Callable[[float], Band]:
    return lambda mu: lambda kx, ky: one_band(kx, ky, t, t1, t2, mu)


def _solve(t: float, t1: float, t2: float, target: float) -> float:
    return chemical_potential_for(_one_band_at(t, t1, t2), target, -6.0 * t, 6.0 * t)


# --- E1: one band; E2: bilayer ---

_CUPRATE: dict[str, Declared] = {
    **_surroundings(),
    "t": Uniform(0.25, 0.45),
    "t1": lambda p: Uniform(-0.4 * p["t"], -0.2 * p["t"]),
    "t2": lambda p: Uniform(0.05 * p["t"], 0.2 * p["t"]),
    "p": Uniform(0.05, 0.30),
    "mu": lambda p: _solve(p["t"], p["t1"], p["t2"], p["p"]),
}


def _cuprate(p: Parameters) -> Sequence[Band]:
    return [_one_band_at(p["t"], p["t1"], p["t2"])(p["mu"])]


def _bilayer(p: Parameters) -> Sequence[Band]:
    mean = _cuprate(p)[0]

    def bonding(kx: Array, ky: Array) -> Array:
        return mean(kx, ky) - bilayer_splitting(kx, ky, p["t_perpendicular"])

    def antibonding(kx: Array, ky: Array) -> Array:
        return mean(kx, ky) + bilayer_splitting(kx, ky, p["t_perpendicular"])

    return [bonding, antibonding]


# --- E3: strontium ruthenate ---


def _ruthenate(p: Parameters) -> Sequence[Band]:
    def alpha(kx: Array, ky: Array) -> Array:
        return ruthenate_xz_yz(kx, ky, p["t"], p["t2"], p["mu_0"])[0]

    def beta(kx: Array, ky: Array) -> Array:
        return ruthenate_xz_yz(kx, ky, p["t"], p["t2"], p["mu_0"])[1]

    def gamma(kx: Array, ky: Array) -> Array:
        return one_band(kx, ky, p["t_gamma"], p["t1_gamma"], 0.0, p["mu_gamma"])

    return [alpha, beta, gamma]


_RUTHENATE: dict[str, Declared] = {
    **_surroundings(),
    "t": lambda _: 0.25,
    "t2": Uniform(0.03, 0.06),
    "mu_0": Uniform(0.24, 0.33),
    "t_gamma": lambda _: 0.35,
    "t1_gamma": lambda _: 0.15,
    "mu_gamma": Uniform(0.52, 0.57),
}

# --- E4: trilayer nickelate ---

LAYERS = (1, 2, 3)


def _trilayer(p: Parameters) -> Sequence[Band]:
    return [_one_band_at(p[f"t_{n}"], p[f"t1_{n}"], p[f"t2_{n}"])(p[f"mu_{n}"]) for n in LAYERS]


def _sheet_ranges(n: int) -> dict[str, Declared]:
    """One sheet; its doping lies at least 0.10 above the one before and leaves as much room for those after."""
    last = len(LAYERS)

    def target(p: dict[str, Any]) -> Uniform:
        low = 0.0 if n == 1 else p[f"p_{n - 1}"] + 0.10
        return Uniform(low, 0.40 - 0.10 * (last - n))

    return {
        f"t_{n}": Uniform(0.41, 0.43),
        f"t1_{n}": lambda p: Uniform(-0.25 * p[f"t_{n}"], -0.15 * p[f"t_{n}"]),
        f"t2_{n}": lambda p: Uniform(0.07 * p[f"t_{n}"], 0.11 * p[f"t_{n}"]),
        f"p_{n}": target,
        f"mu_{n}": lambda p: _solve(p[f"t_{n}"], p[f"t1_{n}"], p[f"t2_{n}"], p[f"p_{n}"]),
    }


_TRILAYER: dict[str, Declared] = {**_surroundings(), **_sheet_ranges(1), **_sheet_ranges(2), **_sheet_ranges(3)}

# --- the categories ---

_DEFINITION = (
    "The doping of a sheet is p = 1 - 2 A_occ / A_BZ with A_occ the area of its occupied states, which lie on that "
    "side of its contour of zero energy where the zone's centre is, extended by the square's symmetry over the whole "
    "Brillouin zone, and A_BZ = (2 pi / a)^2: p = 0 at half filling."
)


def _category(
    number: int,
    title: str,
    observed: str,
    question: str,
    names: tuple[str, ...],
    sheets: Sheets,
    ranges: dict[str, Declared],
) -> Category:
    return Category(
        id=f"E{number}",
        title=title,
        tier=3,
        map_kind=MapKind.MOMENTUM_MOMENTUM,
        levels=NOISE_LEVELS,
        ranges=ranges,
        window=_window,
        intensity=_intensity_of(sheets),
        observed=f"{observed} The map shows one quadrant of the zone of a square lattice and a little more.",
        question=f"{question} {_DEFINITION}",
        quantity=Quantity(names, "", Shape.SCALAR if len(names) == 1 else Shape.VALUES),
        truth=_dopings_of(sheets),
        gamma=constant(GAMMA_DOPING),
        accept=_measurable(sheets),
        given=lambda p: (Given("lattice constant a", p["a"], "Angstrom"),),
    )


ONE_BAND = _category(
    1,
    "Doping of a one-band cuprate",
    "The Fermi surface of a cuprate with one band.",
    "Give the doping p.",
    ("p",),
    _cuprate,
    _CUPRATE,
)
BILAYER = _category(
    2,
    "Dopings of a bilayer cuprate",
    "The Fermi surface of a cuprate with two layers: a bonding and an antibonding sheet that touch on the diagonal.",
    "Give the dopings of both sheets, the bonding one (larger occupied area) first.",
    ("p_bonding", "p_antibonding"),
    _bilayer,
    {**_CUPRATE, "t_perpendicular": Uniform(0.050, 0.120)},
)
RUTHENATE = _category(
    3,
    "Dopings of strontium ruthenate",
    "The Fermi surface of Sr2RuO4 with three sheets: alpha, which is occupied outside a pocket around the zone corner "
    "(pi/a, pi/a), and beta and gamma, which are occupied around the zone centre; of these beta is the squarish sheet "
    "with the smaller area.",
    "Give the dopings of the three sheets in the order alpha, beta, gamma; negative values are possible.",
    ("p_alpha", "p_beta", "p_gamma"),
    _ruthenate,
    _RUTHENATE,
)
TRILAYER = _category(
    4,
    "Dopings of a trilayer nickelate",
    "The Fermi surface of a nickelate with three layers: three sheets of one-band shape that differ in doping.",
    "Give the dopings of the three sheets in increasing order.",
    ("p_1", "p_2", "p_3"),
    _trilayer,
    _TRILAYER,
)

CATEGORIES = (ONE_BAND, BILAYER, RUTHENATE, TRILAYER)
