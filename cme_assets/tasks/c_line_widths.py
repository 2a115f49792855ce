"""Domain C: the line width of a linear band under impurity, Fermi-liquid, marginal and phonon scattering (C1 to C5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cme_assets.physics import bands
from cme_assets.physics.self_energies import debye, fermi_liquid, impurity, marginal_fermi_liquid
from cme_assets.physics.spectral import spectral_function
from cme_assets.physics.types import Array, ComplexArray
from cme_assets.tasks.category import (
    GAMMA_MOMENTUM,
    HALF_NOISE_LEVELS,
    Category,
    MapAxes,
    MapKind,
    Quantity,
    Shape,
    Window,
    constant,
)
from cme_assets.tasks.photoemission import (
    COARSEST,
    LOWEST_RATE,
    matrix_element,
    occupied_rows,
    photoemission_map,
    place_window,
    surroundings,
)
from cme_assets.tasks.ranges import Declared, Parameters, SignedUniform, Uniform

BOTTOM, TOP = -0.15, 0.05
MARGINAL_CUTOFF = 0.5
"""Energy at which the marginal Fermi liquid's rate saturates, eV: outside every window, so it is not asked."""

Interaction = Callable[[Parameters, Array], ComplexArray]
"""The self-energy without the impurity floor, (n_w,)."""


@dataclass(frozen=True)
class LineWidthModel:
    """A linear band with a floor and one interaction; gives the category its window, map and truth."""

    interaction: Interaction

    def self_energy(self, p: Parameters, energy: Array) -> ComplexArray:
        """Interaction and floor, (n_w,)."""
        return self.interaction(p, energy) + impurity(energy, p["rate"])

    def window(self, p: Parameters) -> Window:
        ends = self._momentum(p, np.array([BOTTOM, TOP]))
        x = place_window(float(ends.min()), float(ends.max()), p["width"], p["margin_share"])
        return Window(x, (BOTTOM, TOP), p["E_F"])

    def _momentum(self, p: Parameters, energy: Array) -> Array:
        """Where the momentum distribution curves peak, `kF + (w - S')/v0`, 1/Angstrom."""
        return p["k_F"] + (energy - self.interaction(p, energy).real) / p["v"]

    def intensity(self, p: Parameters, k: Array, energy: Array) -> Array:
        band = bands.linear(k, p["v"], p["k_F"])
        spectral = spectral_function(energy[:, None], band, self.self_energy(p, energy)[:, None])
        return photoemission_map(p, self.window(p), spectral, k, energy)

    def fwhm_momentum(self, p: Parameters, energy: Array) -> Array:
        """`2 |S''| / |v0|` with the whole imaginary part and the bare velocity, 1/Angstrom."""
        return 2.0 * np.abs(self.self_energy(p, energy).imag) / abs(p["v"])

    def truth(self, p: Parameters, axes: MapAxes) -> Array:
        return self.fwhm_momentum(p, axes.y.centers[occupied_rows(p, axes).positions])

    def width(self, p: Parameters) -> float:
        """Window width `0.16/|v| + 4 FWHM`, within 0.5 to 1.5, solved together with the floor that depends on it.

        With the rate at f pixels of the coarsest table, `G0 = f |v| width / 50`, the largest width of the line is
        `2 (G0 + S''max)/|v|`, and the equation is linear in the width.
        """
        strongest = float(np.abs(self.interaction(p, np.array([BOTTOM])).imag)[0])
        free = 0.16 / abs(p["v"]) + 8.0 * strongest / abs(p["v"])
        return float(np.clip(free / (1.0 - 8.0 * p["rate_in_pixels"] / COARSEST), 0.5, 1.5))

    def ranges(self, specific: dict[str, Declared]) -> dict[str, Declared]:
        """All that is drawn; `specific` first, then what depends on it."""
        return {
            **surroundings(),
            "k_F": Uniform(-0.5, 0.5),
            **specific,
            "rate_in_pixels": Uniform(1.0, 1.5),
            "width": self.width,
            "rate": lambda p: max(LOWEST_RATE, p["rate_in_pixels"] * abs(p["v"]) * p["width"] / COARSEST),
            **self.matrix_element(),
        }

    def matrix_element(self) -> dict[str, Declared]:
        return matrix_element(self.window, lambda p: 0.5 * float(self.fwhm_momentum(p, np.array([BOTTOM]))[0]))


def _no_interaction(_: Parameters, energy: Array) -> ComplexArray:
    return np.zeros(energy.shape, dtype=complex)


def _marginal(p: Parameters, energy: Array) -> ComplexArray:
    return marginal_fermi_liquid(energy, p["a"], MARGINAL_CUTOFF, p["T"])


def _fermi_liquid(p: Parameters, energy: Array) -> ComplexArray:
    return fermi_liquid(energy, p["a"], p["T"])


def _phonon_and(other: Interaction) -> Interaction:
    return lambda p, energy: debye(energy, p["lam"], p["W"], p["T"]) + other(p, energy)


_IMPURITY = LineWidthModel(_no_interaction)
_MARGINAL = LineWidthModel(_marginal)
_FERMI_LIQUID = LineWidthModel(_fermi_liquid)
_PHONON_FERMI_LIQUID = LineWidthModel(_phonon_and(_fermi_liquid))
_PHONON_MARGINAL = LineWidthModel(_phonon_and(_marginal))

_QUESTION = (
    "Give the intrinsic width of the band's momentum distribution curves: for each listed row, the full width at half "
    "maximum FWHM_k = 2 |Im Sigma(E)| / |v0|, with the total imaginary part of the self-energy (impurity scattering "
    "included), the bare velocity v0 of the linear band, and the instrument's resolution removed."
)


def _category(number: int, title: str, observed: str, model: LineWidthModel, ranges: dict[str, Declared]) -> Category:
    return Category(
        id=f"C{number}",
        title=title,
        tier=2,
        map_kind=MapKind.ENERGY_MOMENTUM,
        levels=HALF_NOISE_LEVELS,
        ranges=ranges,
        window=model.window,
        intensity=model.intensity,
        observed=f"One band, linear before interactions, crosses the Fermi level. {observed}",
        question=_QUESTION,
        quantity=Quantity(("FWHM_k",), "1/Angstrom", Shape.ARRAY),
        truth=model.truth,
        gamma=constant(GAMMA_MOMENTUM),
        listed=occupied_rows,
    )


_V_WIDE, _V_PHONON = SignedUniform(0.4, 2.0), SignedUniform(1.0, 2.0)
_MODE = Uniform(0.030, 0.070)

IMPURITY = replace(
    _category(
        1,
        "Width from impurities",
        "Electrons scatter elastically from impurities.",
        _IMPURITY,
        {
            **surroundings(),
            "k_F": Uniform(-0.5, 0.5),
            "v": _V_WIDE,
            "fwhm": Uniform(0.025, 0.15),
            "width": lambda p: float(np.clip(0.16 / abs(p["v"]) + 4.0 * p["fwhm"], 0.5, 1.5)),
            "rate": lambda p: 0.5 * p["fwhm"] * abs(p["v"]),
            **_IMPURITY.matrix_element(),
        },
    ),
    accept=lambda p: p["fwhm"] >= 2.5 * p["width"] / COARSEST and p["rate"] >= LOWEST_RATE,
)
MARGINAL_FERMI_LIQUID = _category(
    2,
    "Width of a marginal Fermi liquid",
    "Beside a constant impurity rate the scattering rate grows linearly with energy, as in a marginal Fermi liquid.",
    _MARGINAL,
    _MARGINAL.ranges({"v": _V_WIDE, "a": Uniform(0.1, 0.3)}),
)
FERMI_LIQUID = _category(
    3,
    "Width of a Fermi liquid",
    "Beside a constant impurity rate the scattering rate grows with the square of the energy, as in a Fermi liquid.",
    _FERMI_LIQUID,
    _FERMI_LIQUID.ranges({"v": _V_WIDE, "a": Uniform(1.0, 2.0)}),
)
PHONON_FERMI_LIQUID = _category(
    4,
    "Width with a phonon in a Fermi liquid",
    "Electrons scatter from impurities, from a Debye spectrum of phonons, and from each other as in a Fermi liquid.",
    _PHONON_FERMI_LIQUID,
    _PHONON_FERMI_LIQUID.ranges({"v": _V_PHONON, "lam": lambda _: 1.0, "W": _MODE, "a": Uniform(0.2, 1.0)}),
)
PHONON_MARGINAL = _category(
    5,
    "Width with a phonon in a marginal Fermi liquid",
    "Electrons scatter from impurities, from a Debye spectrum of phonons, and at a rate linear in energy as in a "
    "marginal Fermi liquid.",
    _PHONON_MARGINAL,
    _PHONON_MARGINAL.ranges({"v": _V_PHONON, "lam": lambda _: 0.5, "W": _MODE, "a": Uniform(0.1, 0.3)}),
)

CATEGORIES = (IMPURITY, MARGINAL_FERMI_LIQUID, FERMI_LIQUID, PHONON_FERMI_LIQUID, PHONON_MARGINAL)
