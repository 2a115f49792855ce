"""Domain D: energies of the bosonic modes that kink a band (D1 to D7)."""

from __future__ import annotations

import numpy as np

from cme_assets.physics import bands
from cme_assets.physics.self_energies import debye, fermi_liquid, impurity
from cme_assets.physics.spectral import spectral_function
from cme_assets.physics.types import Array, ComplexArray
from cme_assets.tasks.category import (
    GAMMA_ENERGY,
    NOISE_LEVELS,
    Category,
    MapAxes,
    MapKind,
    Quantity,
    Shape,
    Window,
    constant,
)
from cme_assets.tasks.photoemission import matrix_element, photoemission_map, place_window, spans_a_pixel, surroundings
from cme_assets.tasks.ranges import Declared, Parameters, SignedUniform, Uniform

TOP = 0.05
WIDE_GAMMA = 0.009
"""Half width of the score that the earlier benchmark of the same author used for mode energies, eV."""
SEPARATION = 0.025
ORDINALS = ("one", "two", "three")


def _modes(p: Parameters) -> range:
    return range(1, int(p["modes"]) + 1)


def _interaction(p: Parameters, energy: Array) -> ComplexArray:
    phonons = sum(debye(energy, p[f"lam{n}"], p[f"W{n}"], p["T"]) for n in _modes(p))
    return np.asarray(phonons + fermi_liquid(energy, p["fermi_liquid"], p["T"]))


def _width(p: Parameters) -> float:
    return 1.0 if sum(p[f"lam{n}"] for n in _modes(p)) > 2.5 and p["modes"] > 1 else 0.7


def _window(p: Parameters) -> Window:
    energy = np.array([p["lowest"], TOP])
    ends = p["k_F"] + (energy - _interaction(p, energy).real) / p["v"]
    x = place_window(float(ends.min()), float(ends.max()), _width(p), p["margin_share"])
    return Window(x, (p["lowest"], TOP), p["E_F"])


def _hwhm_momentum(p: Parameters) -> float:
    sigma = _interaction(p, np.array([p["lowest"]]))[0]
    return float((abs(sigma.imag) + p["rate"]) / abs(p["v"]))


def _intensity(p: Parameters, k: Array, energy: Array) -> Array:
    sigma = _interaction(p, energy) + impurity(energy, p["rate"])
    spectral = spectral_function(energy[:, None], bands.linear(k, p["v"], p["k_F"]), sigma[:, None])
    return photoemission_map(p, _window(p), spectral, k, energy)


def _ranges(couplings: list[Declared], energies: Uniform, lowest: float) -> dict[str, Declared]:
    modes = {f"lam{n}": coupling for n, coupling in enumerate(couplings, start=1)}
    modes |= {f"W{n}": energies for n in range(1, len(couplings) + 1)}
    return {
        **surroundings(temperature=(10.0, 20.0)),
        "modes": lambda _: len(couplings),
        "lowest": lambda _: lowest,
        "k_F": Uniform(-0.5, 0.5),
        "v": SignedUniform(2.0, 4.0),
        **modes,
        "rate": Uniform(0.015, 0.025),
        "fermi_liquid": Uniform(0.0, 0.5),
        **matrix_element(_window, _hwhm_momentum),
    }


def _energies(p: Parameters) -> Array:
    return np.sort([p[f"W{n}"] for n in _modes(p)])


def _accept(p: Parameters) -> bool:
    """Modes apart, and the sharpest line, at the Fermi level, not narrower than a pixel."""
    sharpest = 2.0 * abs((_interaction(p, np.zeros(1)) + impurity(np.zeros(1), p["rate"]))[0].imag / p["v"])
    return bool(np.all(np.diff(_energies(p)) > SEPARATION)) and spans_a_pixel(sharpest, _width(p))


def _truth(p: Parameters, _: MapAxes) -> Array:
    return _energies(p)


def _category(number: int, title: str, ranges: dict[str, Declared], count: int, couplings: str) -> Category:
    names = ("W",) if count == 1 else tuple(f"W{n}" for n in range(1, count + 1))
    spectra = (
        "a Debye spectrum, Eliashberg function a2F(O) = lambda (O/W)^2 up to the cut-off W and zero above"
        if count == 1
        else f"{ORDINALS[count - 1]} Debye spectra, each an Eliashberg function a2F(O) = lambda (O/W)^2 up to its own "
        "cut-off W and zero above"
    )
    wanted = "the cut-off W" if count == 1 else f"the {ORDINALS[count - 1]} cut-offs W, in increasing order"
    return Category(
        id=f"D{number}",
        title=title,
        tier=1,
        map_kind=MapKind.ENERGY_MOMENTUM,
        levels=NOISE_LEVELS,
        ranges=ranges,
        window=_window,
        intensity=_intensity,
        observed=(
            f"One band, linear before interactions, crosses the Fermi level and is kinked by coupling to {spectra}. "
            f"{couplings} "
            "Impurities and a weak Fermi-liquid term add to the scattering."
        ),
        question=f"Give {wanted}: positive energies measured from the Fermi level.",
        quantity=Quantity(names, "eV", Shape.SCALAR if count == 1 else Shape.VALUES),
        truth=_truth,
        gamma=constant(GAMMA_ENERGY),
        accept=_accept,
        wide_gamma=WIDE_GAMMA,
    )


def _one_mode(number: int, coupling: float) -> Category:
    ranges = _ranges([lambda _: coupling], Uniform(0.020, 0.075), -0.22)
    return _category(number, f"Mode energy, coupling {coupling:g}", ranges, 1, "All maps share one coupling lambda.")


ONE_MODE = tuple(_one_mode(n, coupling) for n, coupling in enumerate((0.5, 0.75, 1.0, 2.0, 5.0), start=1))
_OWN_COUPLINGS = "Each map has couplings lambda of its own."
TWO_MODES = _category(
    6, "Two mode energies", _ranges([Uniform(0.6, 1.5)] * 2, Uniform(0.020, 0.120), -0.24), 2, _OWN_COUPLINGS
)
THREE_MODES = _category(
    7, "Three mode energies", _ranges([Uniform(0.4, 1.2)] * 3, Uniform(0.020, 0.120), -0.24), 3, _OWN_COUPLINGS
)

CATEGORIES = (*ONE_MODE, TWO_MODES, THREE_MODES)
