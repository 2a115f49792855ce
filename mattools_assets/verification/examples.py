"""Values as they would come out of the sandbox, made from what the question files write down."""

from __future__ import annotations

from typing import Any

import numpy as np

from mattools_assets.verification.structures import CELL, COMPOSITION_CLASS, STRUCTURE_CLASSES
from resources.sandbox.decoding import MsonObject


def decoded(type_name: str, value: Any) -> Any:
    """`value`, written for a property of `type_name`, as the decoder would hand it over."""
    if type_name == "structure":
        return _structure(value)
    if type_name == "composition":
        return MsonObject(COMPOSITION_CLASS, {name: float(amount) for name, amount in value.items()})
    if type_name.startswith("set of "):
        return set(value)
    if type_name.startswith("array of "):
        return np.asarray(value, dtype=type_name.removeprefix("array of "))
    if type_name == "float":
        return float(value)
    return value


def _structure(value: dict[str, Any]) -> MsonObject:
    sites = [{"species": [{"element": element, "occu": 1}], "abc": list(abc)} for element, *abc in value["sites"]]
    lattice = dict(zip(CELL, value["cell"], strict=True))
    return MsonObject(STRUCTURE_CLASSES[0], {"lattice": lattice, "sites": sites})
