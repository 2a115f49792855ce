"""Domain B, first part: linear and quadratic bands and superstructures (B1 to B6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cme_assets.physics import bands
from cme_assets.physics.self_energies import fermi_liquid, impurity
from cme_assets.physics.spectral import spectral_function
from cme_assets.physics.types import Array, ComplexArray
from cme_assets.tasks.category import (
    GAMMA_MOMENTUM,
    NOISE_LEVELS,
    Category,
    MapAxes,
    MapKind,
    Quantity,
    Shape,
    Window,
    constant,
    velocity_gamma,
)
from cme_assets.tasks.photoemission import (
    COARSEST,
    LOWEST_RATE,
    matrix_element,
    occupied_rows,
    photoemission_map,
    place_window,
    scalar,
    surroundings,
)
from cme_assets.tasks.ranges import Choice, Declared, Parameters, SignedUniform, Uniform

BOTTOM = -0.25
"""Lowest energy shown, eV from the Fermi level."""
HIGHEST_TOP = 0.10

SUPERSTRUCTURE_WIDTH = 0.8
COPIES = range(1, 8)


def self_energy(p: Parameters, energy: Array) -> ComplexArray:
    """Impurity floor plus Fermi liquid, (n_w, 1)."""
    return (impurity(energy, p["rate"]) + fermi_liquid(energy, p["fermi_liquid"], p["T"]))[:, None]


def scattering_ranges(pixel_energy: Callable[[Parameters], float]) -> dict[str, Declared]:
    """Rate of once to twice the floor `max(5 meV, |v| dk50)`, and a Fermi liquid that adds at most four times the rate.

    `pixel_energy` is |v| dk50, the energy that the steepest part of the band covers in one pixel of the coarsest table.
    """

    def floor(p: Parameters) -> float:
        return max(LOWEST_RATE, pixel_energy(p))

    return {
        "rate": lambda p: Uniform(floor(p), 2.0 * floor(p)),
        "fermi_liquid": lambda p: Uniform(0.0, 4.0 * p["rate"] / BOTTOM**2),
    }


def _hwhm_at_bottom(velocity: Callable[[Parameters], float]) -> Callable[[Parameters], float]:
    return lambda p: float(abs(self_energy(p, np.array([BOTTOM]))[0, 0].imag)) / velocity(p)


# --- B1, B2: one linear band ---


def _linear_width(p: Parameters) -> float:
    return float(np.clip(0.33 / abs(p["v"]) + 0.2, 0.4, 1.3))


def _linear_ends(p: Parameters) -> tuple[float, float]:
    """Where the band enters and leaves the tallest window, increasing, 1/Angstrom."""
    low, high = sorted((p["k_F"] + BOTTOM / p["v"], p["k_F"] + HIGHEST_TOP / p["v"]))
    return low, high


def _linear_window(p: Parameters) -> Window:
    low, high = _linear_ends(p)
    return Window(place_window(low, high, _linear_width(p), p["margin_share"]), (BOTTOM, p["top"]), p["E_F"])


def _linear_intensity(p: Parameters, k: Array, energy: Array) -> Array:
    band = bands.linear(k, p["v"], p["k_F"])
    spectral = spectral_function(energy[:, None], band, self_energy(p, energy))
    return photoemission_map(p, _linear_window(p), spectral, k, energy)


def _linear_momentum(p: Parameters, axes: MapAxes) -> Array:
    return p["k_F"] + axes.y.centers[occupied_rows(p, axes).positions] / p["v"]


_LINEAR_RANGES: dict[str, Declared] = {
    **surroundings(),
    "top": Uniform(0.05, HIGHEST_TOP),
    "k_F": Uniform(-0.8, 0.8),
    "v": SignedUniform(0.3, 3.0),
    **scattering_ranges(lambda p: abs(p["v"]) * _linear_width(p) / COARSEST),
    **matrix_element(_linear_window, _hwhm_at_bottom(lambda p: abs(p["v"]))),
}

_LINEAR_OBSERVED = (
    "One band, linear in momentum over the window, crosses the Fermi level; its lines are lifetime-broadened."
)

LINEAR_BAND = Category(
    id="B1",
    title="Linear band",
    tier=2,
    map_kind=MapKind.ENERGY_MOMENTUM,
    levels=NOISE_LEVELS,
    ranges=_LINEAR_RANGES,
    window=_linear_window,
    intensity=_linear_intensity,
    observed=_LINEAR_OBSERVED,
    question=(
        "Give the band's dispersion k(E): for each listed row, the momentum at which the bare linear band has that "
        "energy, with the instrument's resolution removed."
    ),
    quantity=Quantity(("k",), "1/Angstrom", Shape.ARRAY),
    truth=_linear_momentum,
    gamma=constant(GAMMA_MOMENTUM),
    listed=occupied_rows,
)

LINEAR_VELOCITY = replace(
    LINEAR_BAND,
    id="B2",
    title="Fermi velocity of a linear band",
    tier=3,
    question="Give the band's Fermi velocity: the signed slope dE/dk of the bare linear band.",
    quantity=Quantity(("v_F",), "eV Angstrom", Shape.SCALAR),
    truth=lambda p, _: scalar(p["v"]),
    gamma=lambda p: velocity_gamma(p["v"], BOTTOM / p["v"], BOTTOM),
    listed=None,
)

# --- B3, B4: one quadratic band ---


def _quadratic_momentum_at(p: Parameters, energy: Array) -> Array:
    return bands.quadratic_momentum(energy, p["v"], p["c"], p["k_F"], p["direction"])


def _quadratic_ends(p: Parameters) -> Array:
    return np.sort(_quadratic_momentum_at(p, np.array([BOTTOM, HIGHEST_TOP])))


def _quadratic_width(p: Parameters) -> float:
    low, high = _quadratic_ends(p)
    return max(float(high - low) + 0.25, 0.4)


def _steepest(p: Parameters) -> float:
    """Largest slope of the band between the window's lower end and HIGHEST_TOP, eV Angstrom."""
    return float(np.sqrt(p["v"] ** 2 + 4.0 * max(p["c"] * HIGHEST_TOP, p["c"] * BOTTOM)))


def _flattest(p: Parameters) -> float:
    """Smallest slope of the occupied part, eV Angstrom; positive also for the draws that are rejected later."""
    return float(np.sqrt(max(p["v"] ** 2 + 4.0 * min(0.0, p["c"] * BOTTOM), 0.01)))


def _quadratic_window(p: Parameters) -> Window:
    low, high = _quadratic_ends(p)
    x = place_window(low, high, _quadratic_width(p), p["margin_share"])
    return Window(x, (BOTTOM, p["top"]), p["E_F"])


def _quadratic_reaches(p: Parameters) -> bool:
    """Whether the band covers the whole range of energies, and its other branch stays out of the picture.

    Curved upwards, the bottom must lie well below the window; curved downwards, the top must lie above it, and the
    second crossing of the Fermi level must be outside by three widths of the line there.
    """
    if p["c"] > 0:
        return bool(p["v"] ** 2 > 5.2 * p["c"] * abs(BOTTOM))
    if p["v"] ** 2 <= 4.0 * abs(p["c"]) * HIGHEST_TOP:
        return False
    low, high = _quadratic_window(p).x
    second = p["k_F"] + p["direction"] * p["v"] / abs(p["c"])
    clearance = 3.0 * 2.0 * p["rate"] / p["v"]
    return bool(second < low - clearance or second > high + clearance)


def _quadratic_intensity(p: Parameters, k: Array, energy: Array) -> Array:
    band = bands.quadratic(k, p["v"], p["c"], p["k_F"], p["direction"])
    spectral = spectral_function(energy[:, None], band, self_energy(p, energy))
    return photoemission_map(p, _quadratic_window(p), spectral, k, energy)


def _quadratic_velocity_gamma(p: Parameters) -> float:
    span = float(_quadratic_momentum_at(p, np.array([BOTTOM]))[0] - p["k_F"])
    return velocity_gamma(p["v"], span, BOTTOM)


QUADRATIC_BAND = replace(
    LINEAR_BAND,
    id="B3",
    title="Quadratic band",
    ranges={
        **surroundings(),
        "top": Uniform(0.05, HIGHEST_TOP),
        "k_F": Uniform(-0.8, 0.8),
        "direction": Choice((-1.0, 1.0)),
        "v": Uniform(0.8, 3.0),
        "c": SignedUniform(0.05, 3.0),
        **scattering_ranges(lambda p: _steepest(p) * _quadratic_width(p) / COARSEST),
        **matrix_element(_quadratic_window, _hwhm_at_bottom(_flattest)),
    },
    window=_quadratic_window,
    intensity=_quadratic_intensity,
    accept=_quadratic_reaches,
    observed="One band with visible curvature crosses the Fermi level; its lines are lifetime-broadened.",
    question=(
        "Give the band's dispersion k(E): for each listed row, the momentum at which the bare band has that energy, "
        "on the branch that crosses the Fermi level inside the window, with the instrument's resolution removed."
    ),
    truth=lambda p, axes: _quadratic_momentum_at(p, axes.y.centers[occupied_rows(p, axes).positions]),
)

QUADRATIC_VELOCITY = replace(
    QUADRATIC_BAND,
    id="B4",
    title="Fermi velocity of a quadratic band",
    tier=3,
    question=(
        "Give the band's Fermi velocity: the signed slope dE/dk of the bare band at the Fermi level, on the branch "
        "that crosses it inside the window."
    ),
    quantity=Quantity(("v_F",), "eV Angstrom", Shape.SCALAR),
    truth=lambda p, _: scalar(p["direction"] * p["v"]),
    gamma=_quadratic_velocity_gamma,
    listed=None,
)

# --- B5, B6: a band with superstructure copies, or folded by a charge-density wave ---


def _superstructure_window(p: Parameters) -> Window:
    x = place_window(*_linear_ends(p), SUPERSTRUCTURE_WIDTH, p["margin_share"])
    return Window(x, (BOTTOM, p["top"]), p["E_F"])


def _copies(p: Parameters, k: Array, energy: Array) -> Array:
    """Main band and copies at kF +- n ks with weight att^n."""
    sigma = self_energy(p, energy)
    total = spectral_function(energy[:, None], bands.linear(k, p["v"], p["k_F"]), sigma)
    for n in COPIES:
        for side in (-n, n):
            band = bands.linear(k, p["v"], p["k_F"] + side * p["k_s"])
            total = total + p["attenuation"] ** n * spectral_function(energy[:, None], band, sigma)
    return total


def _folded(p: Parameters, k: Array, energy: Array) -> Array:
    """Main band hybridised with its mirror image, which it meets at the energy `crossing` above the Fermi level."""
    main = bands.linear(k, p["v"], p["k_F"])
    lower, upper, lower_weight, upper_weight = bands.hybridised(main, 2.0 * p["crossing"] - main, 0.5 * p["cdw_gap"])
    sigma = self_energy(p, energy)
    return lower_weight * spectral_function(energy[:, None], lower, sigma) + upper_weight * spectral_function(
        energy[:, None], upper, sigma
    )


def _superstructure_intensity(p: Parameters, k: Array, energy: Array) -> Array:
    spectral = _copies(p, k, energy) if p["variant"] == "copies" else _folded(p, k, energy)
    return photoemission_map(p, _superstructure_window(p), spectral, k, energy)


SUPERSTRUCTURE_BAND = replace(
    LINEAR_BAND,
    id="B5",
    title="Band with a superstructure",
    ranges={
        **surroundings(),
        "top": Uniform(0.05, HIGHEST_TOP),
        "k_F": Uniform(-0.8, 0.8),
        "v": SignedUniform(0.5, 3.0),
        "variant": Choice(("copies", "folded"), (0.7, 0.3)),
        "k_s": Uniform(0.05, 0.15),
        "attenuation": Uniform(0.4, 0.7),
        "crossing": Uniform(0.03, 0.08),
        "cdw_gap": Uniform(0.0, 0.04),
        **scattering_ranges(lambda p: abs(p["v"]) * SUPERSTRUCTURE_WIDTH / COARSEST),
        **matrix_element(_superstructure_window, _hwhm_at_bottom(lambda p: abs(p["v"]))),
    },
    window=_superstructure_window,
    intensity=_superstructure_intensity,
    observed=(
        "One strong linear band crosses the Fermi level. In some maps a superstructure adds weaker copies of it, "
        "shifted in momentum by the same amounts to both sides; in the others a charge-density wave folds the band "
        "and opens a gap where it meets its mirror image above the Fermi level."
    ),
    question=(
        "Give the main band's dispersion k(E): for each listed row, the momentum at which the strongest, unshifted "
        "band has that energy, as it is without superstructure: copies ignored, not folded, no gap, with the "
        "instrument's resolution removed."
    ),
)

SUPERSTRUCTURE_VELOCITY = replace(
    SUPERSTRUCTURE_BAND,
    id="B6",
    title="Fermi velocity under a superstructure",
    tier=3,
    question=(
        "Give the main band's Fermi velocity: the signed slope dE/dk, at the Fermi level, of the strongest, unshifted "
        "band as it is without superstructure: copies ignored, not folded, no gap."
    ),
    quantity=LINEAR_VELOCITY.quantity,
    truth=LINEAR_VELOCITY.truth,
    gamma=LINEAR_VELOCITY.gamma,
    listed=None,
)

CATEGORIES = (
    LINEAR_BAND,
    LINEAR_VELOCITY,
    QUADRATIC_BAND,
    QUADRATIC_VELOCITY,
    SUPERSTRUCTURE_BAND,
    SUPERSTRUCTURE_VELOCITY,
)
