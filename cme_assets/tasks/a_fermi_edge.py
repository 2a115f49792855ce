"""Domain A: the Fermi edge."""

from __future__ import annotations

import numpy as np

from cme_assets.physics.types import Array
from cme_assets.tasks.category import (
    GAMMA_ENERGY,
    NOISE_LEVELS,
    Category,
    MapKind,
    Quantity,
    Shape,
    Window,
    constant,
)
from cme_assets.tasks.photoemission import matrix_element, photoemission_map, scalar, surroundings
from cme_assets.tasks.ranges import Parameters, Uniform


def _window(p: Parameters) -> Window:
    return Window((p["k_start"], p["k_start"] + 0.6), (p["top"] - 0.40, p["top"]), p["E_F"])


def _intensity(p: Parameters, k: Array, energy: Array) -> Array:
    flat = (1.0 + p["slope"] * energy)[:, None] * np.ones_like(k)
    return photoemission_map(p, _window(p), flat, k, energy)


FERMI_EDGE = Category(
    id="A1",
    title="Fermi edge",
    tier=1,
    map_kind=MapKind.ENERGY_MOMENTUM,
    levels=NOISE_LEVELS,
    ranges={
        **surroundings(temperature=(10.0, 300.0)),
        "top": Uniform(0.06, 0.22),
        "k_start": Uniform(-1.0, 0.4),
        "slope": Uniform(-1.0, 1.0),
        **matrix_element(_window),
    },
    window=_window,
    intensity=_intensity,
    observed=(
        "A metal without any visible band: the intensity follows the Fermi function times a slowly varying "
        "density of states. The temperature is unknown and differs between maps."
    ),
    question=(
        "Find the Fermi energy E_F: the value on the energy axis at which the Fermi function equals one half, "
        "before the broadening by the instrument."
    ),
    quantity=Quantity(("E_F",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["E_F"]),
    gamma=constant(GAMMA_ENERGY),
)

CATEGORIES = (FERMI_EDGE,)
