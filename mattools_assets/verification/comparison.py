"""Typed comparison of values that came out of the sandbox, described as data.

The values were made by a model's code and may be anything that `resources.sandbox.decoding` can represent. All of
these are inert (no class of the sender is ever imported), so what is left is to be strict about types: a bool is no
number, NaN and infinities equal nothing, and sizes are compared before contents.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mattools_assets.verification.structures import compare_composition, compare_structure
from mattools_assets.verification.verdicts import Finding

SCALARS = ("int", "float", "bool", "str")
OBJECTS = ("structure", "composition")


@dataclass(frozen=True)
class Expectation:
    """What a property has to be.

    `type` is one of int, float, bool, str, structure, composition, `list of T`, `set of T`, `dict of str to T`,
    `array of int` and `array of float`, T being any of these. `tolerance` is the largest absolute difference of a
    float (for structures: of lengths in Å); `ordered` is False for lists whose order does not matter.
    """

    type: str
    value: Any
    tolerance: float = 0.0
    ordered: bool = True


class Mismatch(Exception):
    """A value that is not the expected one; `finding` says whether its type is wrong or its value."""

    def __init__(self, finding: Finding, message: str) -> None:
        super().__init__(message)
        self.finding = finding


def compare(got: Any, expected: Expectation) -> None:
    """Returns when `got` is what is expected, else raises Mismatch."""
    if got is None:
        raise Mismatch(Finding.NONE, "it is None")
    _compare(got, expected.value, expected.type, expected)


def known_type(name: str) -> bool:
    """Whether `name` is a type that an Expectation can have."""
    if name in SCALARS or name in OBJECTS:
        return True
    if name.startswith("array of "):
        return name.removeprefix("array of ") in ("int", "float")
    for prefix in ("list of ", "dict of str to "):
        if name.startswith(prefix):
            return known_type(name.removeprefix(prefix))
    return name.startswith("set of ") and name.removeprefix("set of ") in SCALARS


def _compare(got: Any, wanted: Any, type_name: str, expected: Expectation) -> None:
    if type_name in OBJECTS:
        compare_object = compare_structure if type_name == "structure" else compare_composition
        problem = compare_object(got, wanted, expected.tolerance)
        if problem is not None:
            raise Mismatch(Finding.WRONG_TYPE if problem.is_type else Finding.WRONG_VALUE, problem.message)
        return
    if type_name in SCALARS:
        _compare_scalar(got, wanted, type_name, expected.tolerance)
        return
    container, _, inner = type_name.partition(" of ")
    _CONTAINERS[container](got, wanted, inner, expected)


def _compare_scalar(got: Any, wanted: Any, type_name: str, tolerance: float) -> None:
    value = scalar(got, type_name)
    if value is None:
        raise Mismatch(Finding.WRONG_TYPE, f"expected {type_name}, got {shown(got)}")
    if type_name == "float":
        right = math.isfinite(value) and abs(value - wanted) <= tolerance
    else:
        right = value == wanted
    if not right:
        raise Mismatch(Finding.WRONG_VALUE, f"expected {shown(wanted)}, got {shown(got)}")


def scalar(got: Any, type_name: str) -> Any:
    """`got` as a plain int, float, bool or str; None when it is none of the wanted type. A whole number is a float."""
    if isinstance(got, np.generic):
        got = got.item()
    real = type(got)
    if type_name == "float" and real is int:
        return float(got) if abs(got) < 1 << 1000 else None
    return got if real is {"int": int, "float": float, "bool": bool, "str": str}[type_name] else None


def _items(got: Any) -> list[Any]:
    """The items of a list, tuple or array; a set has no order and a string no items."""
    if isinstance(got, np.ndarray) and got.ndim > 0:
        return list(got)
    if isinstance(got, list | tuple):
        return list(got)
    raise Mismatch(Finding.WRONG_TYPE, f"expected a list, got {shown(got)}")


def _compare_list(got: Any, wanted: Any, inner: str, expected: Expectation) -> None:
    items = _items(got)
    if len(items) != len(wanted):
        raise Mismatch(Finding.WRONG_VALUE, f"expected {len(wanted)} items, got {len(items)}")
    if expected.ordered:
        for one, other in zip(items, wanted, strict=True):
            _compare(one, other, inner, expected)
        return
    plain = [scalar(item, inner) for item in items]
    if any(item is None for item in plain):
        raise Mismatch(Finding.WRONG_TYPE, f"expected a list of {inner}, got {shown(got)}")
    # Sorting pairs numbers of one dimension as well as any pairing can.
    for one, other in zip(sorted(plain), sorted(wanted), strict=True):
        _compare_scalar(one, other, inner, expected.tolerance)


def _compare_set(got: Any, wanted: Any, inner: str, _expected: Expectation) -> None:
    if not isinstance(got, set | frozenset):
        raise Mismatch(Finding.WRONG_TYPE, f"expected a set, got {shown(got)}")
    if len(got) != len(wanted):
        raise Mismatch(Finding.WRONG_VALUE, f"expected {len(wanted)} members, got {len(got)}")
    members = [scalar(member, inner) for member in got]
    if any(member is None for member in members):
        raise Mismatch(Finding.WRONG_TYPE, f"expected a set of {inner}, got {shown(got)}")
    if Counter(members) != Counter(wanted):
        raise Mismatch(Finding.WRONG_VALUE, f"expected the members {shown(wanted)}, got {shown(got)}")


def _compare_dict(got: Any, wanted: Any, inner: str, expected: Expectation) -> None:
    if not isinstance(got, dict):
        raise Mismatch(Finding.WRONG_TYPE, f"expected a dictionary, got {shown(got)}")
    if len(got) != len(wanted) or any(key not in got for key in wanted):
        raise Mismatch(Finding.WRONG_VALUE, f"expected the keys {shown(list(wanted))}, got {shown(list(got))}")
    for key, value in wanted.items():
        _compare(got[key], value, inner.removeprefix("str to "), expected)


def _compare_array(got: Any, wanted: Any, inner: str, expected: Expectation) -> None:
    # Python's own integers are exact: a float has 53 bits, and differences of 64 bits may overflow.
    kind = object if inner == "int" else float
    array, exact = _numbers(got, inner), np.asarray(wanted, dtype=kind)
    if array.shape != exact.shape:
        raise Mismatch(Finding.WRONG_VALUE, f"expected the shape {exact.shape}, got {array.shape}")
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(array.astype(kind) - exact)
    if not ((difference <= expected.tolerance) & (difference < math.inf)).all():
        raise Mismatch(Finding.WRONG_VALUE, f"expected {shown(wanted)}, got {shown(got)}")


def _numbers(got: Any, inner: str) -> np.ndarray[Any, Any]:
    """`got` (array or nested lists) as one array; texts, bools, objects and ragged lists are not numbers."""
    if not isinstance(got, np.ndarray | list | tuple):
        raise Mismatch(Finding.WRONG_TYPE, f"expected an array, got {shown(got)}")
    if _holds_bool(got):
        raise Mismatch(Finding.WRONG_TYPE, f"expected numbers, got {shown(got)}")
    try:
        array = np.asarray(got)
    except (ValueError, TypeError, OverflowError):
        raise Mismatch(Finding.WRONG_TYPE, f"expected an array, got {shown(got)}") from None
    if array.dtype.kind not in ("iu" if inner == "int" else "iuf"):
        raise Mismatch(Finding.WRONG_TYPE, f"expected an array of {inner}, got {shown(got)}")
    return array


def _holds_bool(items: Any) -> bool:
    """Whether a bool is anywhere in nested lists and arrays; numpy would make it a number beside others."""
    if isinstance(items, np.ndarray):
        return items.dtype.kind == "b"
    if isinstance(items, list | tuple):
        return any(_holds_bool(item) for item in items)
    return isinstance(items, bool | np.bool_)


def shown(value: Any) -> str:
    """`value` in at most 200 characters, with its type where that is not plain from the text."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


_CONTAINERS: dict[str, Callable[[Any, Any, str, Expectation], None]] = {
    "list": _compare_list,
    "set": _compare_set,
    "dict": _compare_dict,
    "array": _compare_array,
}
