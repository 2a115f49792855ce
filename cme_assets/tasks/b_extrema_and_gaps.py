"""Domain B, second part: parabolas, band bottoms, Dirac points and superconducting gaps (B7 to B10)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cme_assets.physics import bands
from cme_assets.physics.self_energies import fermi_liquid, impurity, norman_pairing
from cme_assets.physics.spectral import spectral_function
from cme_assets.physics.types import Array, ComplexArray
from cme_assets.tasks.category import (
    GAMMA_ENERGY,
    NOISE_LEVELS,
    Category,
    Given,
    Listed,
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
    photoemission_map,
    place_window,
    scalar,
    surroundings,
)
from cme_assets.tasks.ranges import Choice, Declared, Parameters, SignedUniform, Uniform

TOP = 0.08
CURVATURES = (0.5, 4.0)
"""Range of c = hbar^2/(2 m*), eV A^2."""
BELOW_BOTTOM = (0.07, 0.13)
"""Energy shown below the band's bottom, eV; about 0.10, and drawn, so that the bottom has no fixed place."""

HIGHEST_RASHBA_ENERGY = 0.06
"""Largest aR^2/(4c), eV: the branches' crossing stays below the Fermi level. The full ranges of aR (0.5 to 2 eV A) and
of c would put the bottom up to 2 eV below the window; both are drawn within this bound where a pair is split."""
LIGHTEST_SPLIT = 1.1
"""Smallest curvature c of a split pair, eV A^2: below 1.04 no aR of at least 0.5 eV A keeps the bound."""


def _rates(p: Parameters, energy: Array) -> ComplexArray:
    """Impurity floor plus Fermi liquid, (n_w, 1)."""
    return (impurity(energy, p["rate"]) + fermi_liquid(energy, p["fermi_liquid"], p["T"]))[:, None]


# --- B7: parabola; B8: band bottom, some with Rashba splitting ---


def _rashba_energy(p: Parameters) -> float:
    return float(p["rashba"] ** 2 / (4.0 * p["c"]))


def _parabola_width(p: Parameters) -> float:
    return float(2.4 * np.sqrt(abs(p["bottom"]) / p["c"]) + 0.1 + p["rashba"] / p["c"])


def _fermi_slope(p: Parameters) -> float:
    """Slope of either branch at the Fermi level, `2 sqrt(c |E_bottom|)`, the steepest of the occupied band."""
    return float(2.0 * np.sqrt(p["c"] * abs(p["bottom"])))


def _parabola_window(p: Parameters) -> Window:
    half = np.sqrt(abs(p["bottom"]) / p["c"]) + 0.5 * p["rashba"] / p["c"]
    x = place_window(p["k_0"] - half, p["k_0"] + half, _parabola_width(p), p["margin_share"])
    return Window(x, (p["bottom"] - p["below"], TOP), p["E_F"])


def _parabola_intensity(p: Parameters, k: Array, energy: Array) -> Array:
    crossing = p["bottom"] + _rashba_energy(p)
    branches = bands.rashba(k, crossing, p["c"], p["rashba"], p["k_0"])
    # Without splitting both branches are one band; its overall factor drops out of a table scaled to 1000.
    spectral = sum(spectral_function(energy[:, None], branch, _rates(p, energy)) for branch in branches)
    return photoemission_map(p, _parabola_window(p), np.asarray(spectral), k, energy)


def _parabola_ranges(curvature: Declared, rashba: Declared) -> dict[str, Declared]:
    return {
        **surroundings(),
        "k_0": Uniform(-0.5, 0.5),
        "c": curvature,
        "bottom": Uniform(-0.22, -0.08),
        "rashba": rashba,
        "below": Uniform(*BELOW_BOTTOM),
        "rate": lambda p: _one_to_two(max(LOWEST_RATE, _fermi_slope(p) * _parabola_width(p) / COARSEST)),
        "fermi_liquid": Uniform(0.0, 0.5),
        **matrix_element(_parabola_window, lambda p: p["rate"] / _fermi_slope(p)),
    }


def _one_to_two(floor: float) -> Uniform:
    return Uniform(floor, 2.0 * floor)


def _occupied_columns(p: Parameters, axes: MapAxes) -> Listed:
    """All columns at which the bare band lies below the Fermi level."""
    return Listed.where("x", bands.parabola(axes.x.centers, p["bottom"], p["c"], p["k_0"]) < 0)


def _parabola_energy(p: Parameters, axes: MapAxes) -> Array:
    k = axes.x.centers[_occupied_columns(p, axes).positions]
    return p["E_F"] + bands.parabola(k, p["bottom"], p["c"], p["k_0"])


PARABOLA = Category(
    id="B7",
    title="Parabolic band",
    tier=2,
    map_kind=MapKind.ENERGY_MOMENTUM,
    levels=NOISE_LEVELS,
    ranges=_parabola_ranges(Uniform(*CURVATURES), lambda _: 0.0),
    window=_parabola_window,
    intensity=_parabola_intensity,
    observed="One parabolic, electron-like band: bottom below the Fermi level, lines lifetime-broadened.",
    question=(
        "Give the band's dispersion E(k): for each listed column, the energy of the bare parabolic band as a value on "
        "the energy axis. This is the pole of the band, not the maximum of the energy distribution curve, which the "
        "Fermi function and the background displace."
    ),
    quantity=Quantity(("E",), "eV", Shape.ARRAY),
    truth=_parabola_energy,
    gamma=constant(GAMMA_ENERGY),
    listed=_occupied_columns,
)

BAND_BOTTOM = replace(
    PARABOLA,
    id="B8",
    title="Band bottom",
    tier=1,
    ranges={
        "splits": Choice((False, True), (0.6, 0.4)),
        **_parabola_ranges(
            lambda p: Uniform(LIGHTEST_SPLIT if p["splits"] else CURVATURES[0], CURVATURES[1]),
            lambda p: Uniform(0.5, 2.0 * np.sqrt(HIGHEST_RASHBA_ENERGY * p["c"])) if p["splits"] else 0.0,
        ),
    },
    observed=(
        "A parabolic, electron-like band with its bottom below the Fermi level; in some maps spin-orbit coupling "
        "splits it into a Rashba pair, two parabolas displaced in momentum that cross at the centre."
    ),
    question=(
        "Give the band-bottom energy: the lowest energy of the bare band, as a value on the energy axis. For a Rashba "
        "pair this is the common minimum of the two branches, not their crossing."
    ),
    quantity=Quantity(("E_bottom",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["E_F"] + p["bottom"]),
    listed=None,
)

# --- B9: Dirac point ---

DIRAC_BOTTOM = -0.35


def _dirac_width(p: Parameters) -> float:
    return float(max(0.6 / p["v"] + 0.1, 0.35))


def _dirac_window(p: Parameters) -> Window:
    half = 0.25 * _dirac_width(p)
    x = place_window(p["k_0"] - half, p["k_0"] + half, _dirac_width(p), p["margin_share"])
    return Window(x, (DIRAC_BOTTOM, TOP), p["E_F"])


def _dirac_intensity(p: Parameters, k: Array, energy: Array) -> Array:
    cones = bands.dirac(k, p["node"], p["v"], p["mass"], p["k_0"])
    spectral = sum(spectral_function(energy[:, None], cone, _rates(p, energy)) for cone in cones)
    return photoemission_map(p, _dirac_window(p), np.asarray(spectral), k, energy)


DIRAC_POINT = replace(
    BAND_BOTTOM,
    id="B9",
    title="Dirac point",
    ranges={
        **surroundings(),
        "k_0": Uniform(-0.5, 0.5),
        "v": Uniform(0.8, 3.0),
        "node": Uniform(-0.22, -0.08),
        "massive": Choice((False, True)),
        "mass": lambda p: Uniform(0.0, 0.010) if p["massive"] else 0.0,
        "rate": lambda p: _one_to_two(max(LOWEST_RATE, p["v"] * _dirac_width(p) / COARSEST)),
        "fermi_liquid": Uniform(0.0, 0.5),
        **matrix_element(_dirac_window, lambda p: p["rate"] / p["v"]),
    },
    window=_dirac_window,
    intensity=_dirac_intensity,
    accept=lambda _: True,
    observed=(
        "A Dirac cone cut through its axis: two bands of opposite slope that meet below the Fermi level; in some maps "
        "a small mass opens a gap at the node."
    ),
    question=(
        "Give the Dirac energy: the energy of the node as a value on the energy axis or, where a mass opens a gap, the "
        "midpoint of the gap."
    ),
    quantity=Quantity(("E_D",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["E_F"] + p["node"]),
)

# --- B10: superconducting gap ---

GAP_WINDOW = (-0.15, 0.06)
GAP_WIDTH = 0.4
NORMAL_STATES = ("linear", "quadratic", "parabolic", "two bands")


def _gap_window(p: Parameters) -> Window:
    start = p["k_F"] - GAP_WIDTH * p["margin_share"]
    return Window((start, start + GAP_WIDTH), GAP_WINDOW, p["E_F"])


def _normal_states(p: Parameters, k: Array) -> list[tuple[float, Array]]:
    """Weights and bare bands, all of slope v at kF."""
    band = bands.linear(k, p["v"], p["k_F"])
    match p["normal_state"]:
        case "quadratic":
            return [(1.0, bands.quadratic(k, abs(p["v"]), p["c"], p["k_F"], float(np.sign(p["v"]))))]
        case "parabolic":
            # Bottom at -v^2/(4c) and centre at kF - v/(2c): crosses the Fermi level with slope v.
            return [
                (1.0, bands.parabola(k, -(p["v"] ** 2) / (4.0 * p["c"]), p["c"], p["k_F"] - p["v"] / (2.0 * p["c"])))
            ]
        case "two bands":
            return [(1.0, band), (p["second_weight"], bands.linear(k, p["v"], p["k_F"] + p["second_offset"]))]
        case _:
            return [(1.0, band)]


def _gap_intensity(p: Parameters, k: Array, energy: Array) -> Array:
    w = energy[:, None]
    spectral = np.zeros((energy.size, k.size))
    for weight, band in _normal_states(p, k):
        sigma = norman_pairing(w, band, p["rate"], p["gap"], p["pair_rate"])
        spectral += weight * spectral_function(w, band, sigma)
    return photoemission_map(p, _gap_window(p), spectral, k, energy)


SUPERCONDUCTING_GAP = replace(
    BAND_BOTTOM,
    id="B10",
    title="Superconducting gap",
    ranges={
        **surroundings(),
        "normal_state": Choice(NORMAL_STATES),
        "k_F": Uniform(-0.5, 0.5),
        "v": SignedUniform(1.0, 3.0),
        "c": lambda p: Uniform(2.0, 5.0) if p["normal_state"] == "parabolic" else Uniform(0.5, 3.0),
        "second_offset": Uniform(0.06, 0.12),
        "second_weight": Uniform(0.4, 0.8),
        "gap": Uniform(0.015, 0.060),
        "rate": lambda p: Uniform(max(0.020, abs(p["v"]) * GAP_WIDTH / COARSEST), 0.050),
        "pair_rate": Uniform(0.001, 0.003),
        **matrix_element(_gap_window, lambda p: p["rate"] / abs(p["v"])),
    },
    window=_gap_window,
    intensity=_gap_intensity,
    accept=lambda p: p["gap"] ** 2 / p["rate"] >= 0.006,
    observed=(
        "A superconductor below its transition: one or two bands whose spectral function follows the self-energy "
        "Sigma(k, w) = -i G1 + D^2 / (w + eps_k + i Gp), with w = E - E_F, the bare band eps_k, a single-particle "
        "rate G1 between 0.02 and 0.05 eV, a pair-breaking rate Gp between 0.001 and 0.003 eV and one gap D."
    ),
    question=(
        "Give the superconducting gap D of this self-energy (half the full gap, in eV, positive). It is neither the "
        "position of the peak in the energy distribution curve at the Fermi momentum nor that of the leading edge."
    ),
    quantity=Quantity(("D",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["gap"]),
    given=lambda p: (Given("E_F", p["E_F"], "eV"),),
)

CATEGORIES = (PARABOLA, BAND_BOTTOM, DIRAC_POINT, SUPERCONDUCTING_GAP)
