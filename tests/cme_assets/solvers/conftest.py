"""Energy-momentum problems from maps that a test writes down itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cme_assets.closed_book import ClosedBookProblem, Exhibit, ListedValues
from cme_assets.physics.types import Array
from cme_assets.tables import Table
from cme_assets.tasks.category import MapKind, Quantity, Shape

PoseMap = Callable[..., ClosedBookProblem]


def _pose_map(
    category: str,
    energy: Array,
    momentum: Array,
    intensity: Array,
    fermi_energy: float,
    answer: tuple[float, ...] | None = None,
) -> ClosedBookProblem:
    """Examples and question share one map; with an `answer` it has those values, without it is asked row by row."""
    peak = max(float(np.max(intensity)), 1e-12)
    table = Table("E\\k", energy, momentum, np.rint(1000.0 * intensity / peak).astype(np.int64))
    listed = None if answer else ListedValues("row", tuple(energy[energy < fermi_energy].tolist()))
    known = answer or tuple(np.zeros(len(listed.values)) if listed else ())
    names = tuple(f"x{number}" for number in range(len(answer or (0.0,))))
    shape = Shape.ARRAY if answer is None else Shape.SCALAR if len(answer) == 1 else Shape.VALUES
    example, question = Exhibit(table, (), listed, known), Exhibit(table, (), listed, None)
    quantity = Quantity(names, "", shape)
    return ClosedBookProblem(
        category, MapKind.ENERGY_MOMENTUM, "", "", quantity, 0.003, 0.005, (example,) * 3, question
    )


@pytest.fixture
def pose_map() -> PoseMap:
    """`pose_map(category, energy, momentum, intensity, fermi_energy, answer=None)`."""
    return _pose_map


@pytest.fixture(params=["empty", "constant", "noise", "one row"])
def pointless_map(request: pytest.FixtureRequest) -> Array:
    """Maps (100, 100) in which there is nothing to be found."""
    blank = np.zeros((100, 100))
    match request.param:
        case "constant":
            return blank + 7.0
        case "noise":
            return np.random.default_rng(3).uniform(size=blank.shape)
        case "one row":
            blank[40, 30:33] = 1.0
    return blank
