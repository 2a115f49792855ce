"""A small problem for agents: where along k a band lies that does not disperse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.tables import Table
from cme_assets.tasks.category import Given, MapKind, Quantity, Shape

PLACES = (-0.12371938, 0.05190417, 0.18710652, 0.09432718)
"""Where the band lies in the three examples and in the question, 1/Angstrom."""

QUANTITY = Quantity(("k0",), "1/Angstrom", Shape.SCALAR)
SIGMA_MOMENTUM = 0.03
SIZE = 41

READ = """
import json
import numpy as np
table = np.genfromtxt("map.csv", delimiter=",", skip_header=1)
with open("map.csv") as file:
    k = np.array([float(word) for word in file.readline().split(",")[1:]])
facts = json.load(open("map.json"))
counts = table[:, 1:].sum(axis=0)
k0 = float((counts * k).sum() / counts.sum())
"""
RIGHT = READ + "submit([k0])"
SHIFTED = READ + "print('found', k0)\nsubmit([k0 + 0.02])"


def exhibit(place: float, answer: Sequence[float] | None) -> Exhibit:
    """A Gaussian in k, the same at all energies; its centre of mass is at `place`, up to rounding to counts."""
    k, energy = np.linspace(-0.4, 0.4, SIZE), np.linspace(15.5, 16.0, SIZE)
    profile = np.exp(-0.5 * ((k - place) / SIGMA_MOMENTUM) ** 2)
    table = Table.of_map(np.tile(profile, (SIZE, 1)), energy, k, "E(eV)\\k(1/A)")
    return Exhibit(table, (Given("temperature", 20.0, "K"),), None, None if answer is None else tuple(answer))


def peak_problem() -> ClosedBookProblem:
    """The problem; the answer to its question is the last of PLACES."""
    examples = tuple(exhibit(place, [place]) for place in PLACES[:3])
    question = "Find the momentum at which the band lies."
    return ClosedBookProblem(
        "A1", MapKind.ENERGY_MOMENTUM, "One band.", question, QUANTITY, 0.01, 0.01, examples, exhibit(PLACES[3], None)
    )
