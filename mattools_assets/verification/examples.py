"""Values as the question files write them down, and as they would come out of the sandbox."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mattools_assets.verification.comparison import SCALARS, scalar
from mattools_assets.verification.structures import CELL, COMPOSITION_CLASS, STRUCTURE_CLASSES
from resources.sandbox.decoding import MsonObject
from resources.strict_json import is_whole


def fits(type_name: str, value: Any) -> bool:
    """Whether `value` is written as a property of `type_name` has to be; numbers must be finite."""
    if type_name in SCALARS:
        plain = scalar(value, type_name)
        if isinstance(plain, str):
            return is_whole(plain)
        return plain is not None and (type_name != "float" or math.isfinite(plain))
    if type_name in ("structure", "composition"):
        return isinstance(value, dict) and (_is_cell(value) if type_name == "structure" else _are_amounts(value))
    container, _, inner = type_name.partition(" of ")
    if container == "dict":
        inner = inner.removeprefix("str to ")
        return isinstance(value, dict) and all(fits("str", key) and fits(inner, value[key]) for key in value)
    if not isinstance(value, list):
        return False
    if container == "array":
        # What does not fit into a rectangle stays a list. numpy's integers have 64 bits.
        items = np.asarray(value, dtype=object).ravel().tolist()
        return all(fits(inner, item) and (inner == "float" or -(2**63) <= item < 2**63) for item in items)
    return all(fits(inner, item) for item in value) and (container == "list" or len(set(value)) == len(value))


def _is_cell(value: dict[str, Any]) -> bool:
    cell, sites = value.get("cell"), value.get("sites")
    return (
        value.keys() == {"cell", "sites"}
        and (isinstance(cell, list) and len(cell) == len(CELL) and all(fits("float", one) and one > 0 for one in cell))
        and (isinstance(sites, list) and all(isinstance(site, list) and len(site) == 4 for site in sites))
        and all(fits("str", site[0]) and all(fits("float", one) for one in site[1:]) for site in sites)
    )


def _are_amounts(value: dict[str, Any]) -> bool:
    return bool(value) and all(fits("str", name) and fits("float", value[name]) for name in value)


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
