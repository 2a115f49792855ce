"""Makes a decoded answer ready to enter the sandbox again, as typed JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from mattools_assets.verification.inside import ELEMENT, OTHER, TAG
from resources.sandbox.decoding import EnumValue, MsonObject, OpaqueObject
from resources.sandbox.encoding import encode

ELEMENT_CLASS = "pymatgen.core.periodic_table.Element"


def answer_bytes(answer: dict[Any, Any]) -> bytes:
    """Typed JSON of `answer`, for `verification.inside`. Raises ValueError when it is too large."""
    return encode(portable(answer))


def portable(value: Any) -> Any:
    """`value` of built-in types and arrays alone.

    numpy's scalars become Python's, as they do where results are printed and read again; chemical elements and all
    other objects become tagged tuples.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return [portable(item) for item in value.tolist()] if value.dtype == object else value
    if isinstance(value, EnumValue | MsonObject | OpaqueObject):
        return _tagged(value)
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(portable(item) for item in value)
    if isinstance(value, dict):
        return {portable(key): portable(item) for key, item in value.items()}
    return value


def _tagged(value: EnumValue | MsonObject | OpaqueObject) -> tuple[str, str, str]:
    if isinstance(value, MsonObject) and value.type_name == ELEMENT_CLASS:
        symbol = value.data.get("element")
        if isinstance(symbol, str):
            return (TAG, ELEMENT, symbol)
    return (TAG, OTHER, value.type_name)
