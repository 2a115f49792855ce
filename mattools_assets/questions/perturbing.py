"""Runs inside the sandbox: moves a right value out of its tolerance and leaves its type as it is.

Shipped as text and executed there behind a solution; it needs only what the value's own class needs.
"""

from typing import Any

FAR = 10.0
"""In tolerances: lists in any order of many numbers may hide smaller moves."""


def perturbed(value: Any, tolerance: float) -> Any:
    """`value` with one part of it wrong: a number further than `tolerance`, an item, a member, a cell."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1 + int(FAR * tolerance)
    if isinstance(value, float):
        return value + max(FAR * tolerance, 1e-6 * abs(value), 1e-9)
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list | tuple):
        return type(value)([perturbed(value[0], tolerance), *value[1:]] if value else [0])
    if isinstance(value, set | frozenset):
        members = sorted(value, key=repr)
        return type(value)([perturbed(members[0], tolerance), *members[1:]] if members else [0])
    if isinstance(value, dict):
        first = next(iter(value), None)
        return {**value, first: perturbed(value[first], tolerance)} if value else {"x": 0}
    return _object(value, tolerance)


def _object(value: Any, tolerance: float) -> Any:
    if hasattr(value, "tolist"):
        return _of_numpy(value, tolerance)
    if hasattr(value, "lattice"):
        wider = type(value.lattice)(value.lattice.matrix * 1.1)
        return type(value)(wider, value.species, value.frac_coords)
    return value + type(value)("H")  # a Composition


def _of_numpy(value: Any, tolerance: float) -> Any:
    """An array with its first element moved, or one of numpy's numbers moved."""
    if getattr(value, "ndim", 0) == 0:
        return type(value)(perturbed(value.item(), tolerance))
    wrong = value.copy()
    wrong.flat[0] = perturbed(value.flat[0].item(), tolerance)
    return wrong
