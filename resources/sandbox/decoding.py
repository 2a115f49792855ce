"""Values that came out of the sandbox: `decode` turns the typed JSON of `encoding.py` back into Python values.

The bytes are the model's and may be anything. Size, depth and count are bounded, no class is imported, nothing of the
sender's is called, and neither eval nor pickle is used: objects come back as descriptions (EnumValue, MsonObject,
OpaqueObject), never as themselves.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from resources.sandbox.encoding import MAX_BYTES, MAX_DEPTH, MAX_INTEGER_BITS, MAX_NODES, MAX_TEXT, SAFE_INTEGER

MAX_HASHED = 10_000  # keys with equal hashes can be chosen by the sender; this many still take about a second

_NUMERIC_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[mM]8(\[\d{0,6}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?)")


class DecodingError(ValueError):
    """A text that is not an encoded value, or is one beyond the bounds."""


@dataclass(frozen=True)
class EnumValue:
    """A member of an enumeration: the class's full name, the member's name and its value."""

    type_name: str
    name: str
    value: Any


@dataclass(frozen=True)
class MsonObject:
    """An object that describes itself by `as_dict`, as pymatgen's do: the class's full name and that dictionary."""

    type_name: str
    data: dict[Any, Any]

    def __hash__(self) -> int:
        return hash((self.type_name, repr(self.data)[:MAX_TEXT]))


@dataclass(frozen=True)
class OpaqueObject:
    """Any other object: the class's full name and at most 2,000 characters of its repr."""

    type_name: str
    text: str


def decode(data: bytes, max_bytes: int = MAX_BYTES) -> Any:
    """The value that `data` describes. Raises DecodingError, and nothing else, whatever the bytes are."""
    if len(data) > max_bytes:
        raise DecodingError(f"the result is larger than {max_bytes} bytes")
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_NODES:
        raise DecodingError(f"the result has more than {MAX_NODES} parts")
    try:
        tree = json.loads(data.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        return _decoded(tree, 0)
    except DecodingError:
        raise
    except RecursionError:
        raise DecodingError(f"the result is nested deeper than {MAX_DEPTH}") from None
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise DecodingError(f"the result is not an encoded value: {type(error).__name__}: {str(error)[:200]}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    node = dict(pairs)
    if len(node) != len(pairs):
        raise DecodingError("the result has a duplicate key")
    return node


def _no_constant(text: str) -> Any:
    raise DecodingError(f"the result holds a bare {text}")


def _decoded(node: Any, depth: int) -> Any:
    if depth > MAX_DEPTH + 2:
        raise DecodingError(f"the result is nested deeper than {MAX_DEPTH}")
    if node is None or isinstance(node, bool):
        return node
    if isinstance(node, str):
        return _no_surrogates(node)
    if isinstance(node, int):
        if abs(node) >= SAFE_INTEGER:
            raise DecodingError("a bare integer of the result is too large")
        return node
    if isinstance(node, float):
        if not math.isfinite(node):
            raise DecodingError("a bare number of the result is not finite")
        return node
    if isinstance(node, list):
        return [_decoded(item, depth + 1) for item in node]
    reader = _READERS.get(node["t"]) if isinstance(node["t"], str) else None
    if reader is None:
        raise DecodingError(f"the result has the unknown tag {str(node['t'])[:40]!r}")
    return reader(node, depth + 1)


def _no_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _list(node: dict[str, Any]) -> list[Any]:
    if not isinstance(node["v"], list):
        raise DecodingError("a part of the result is no list")
    return node["v"]


def _string(value: Any, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise DecodingError(f"a part of the result is no text of at most {longest} characters")
    return _no_surrogates(value)


def _read_items(node: dict[str, Any], depth: int) -> list[Any]:
    return [_decoded(item, depth) for item in _list(node)]


def _read_hashed(node: dict[str, Any], depth: int) -> list[Any]:
    items = _read_items(node, depth)
    if len(items) > MAX_HASHED and not all(isinstance(item, str) for item in items):
        raise DecodingError(f"a set of the result has more than {MAX_HASHED} members")
    return items


def _read_dict(node: dict[str, Any], depth: int) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    others = 0
    for pair in _list(node):
        if not isinstance(pair, list) or len(pair) != 2:
            raise DecodingError("an entry of a dictionary of the result is no pair")
        key = _decoded(pair[0], depth)
        others += not isinstance(key, str)
        if others > MAX_HASHED:
            raise DecodingError(f"a dictionary of the result has more than {MAX_HASHED} keys that are no strings")
        result[key] = _decoded(pair[1], depth)
    return result


def _read_integer(node: dict[str, Any], _depth: int) -> int:
    return int(_string(node["v"], MAX_INTEGER_BITS // 4 + 2), 16)


def _read_special_float(node: dict[str, Any], _depth: int) -> float:
    if node["v"] not in ("nan", "inf", "-inf"):
        raise DecodingError("a special number of the result is none of nan, inf, -inf")
    return float(node["v"])


def _read_complex(node: dict[str, Any], depth: int) -> complex:
    real, imaginary = (float(_decoded(part, depth)) for part in _list(node))
    return complex(real, imaginary)


def _read_bytes(node: dict[str, Any], _depth: int) -> bytes:
    return base64.b64decode(_string(node["v"], MAX_BYTES), validate=True)


def _read_array(node: dict[str, Any], depth: int) -> Any:
    import numpy

    shape = node["shape"]
    if not isinstance(shape, list) or len(shape) > 32 or not all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape):
        raise DecodingError("the shape of an array of the result is not one")
    if node["dtype"] in ("str", "object"):
        items = _read_items(node, depth)
        if math.prod(shape) != len(items):
            raise DecodingError("the shape of an array of the result does not fit its data")
        if node["dtype"] == "str":
            texts = [_string(item, MAX_BYTES) for item in items]
            if len(texts) * max(map(len, texts), default=0) > 4 * MAX_BYTES:  # an array gives each the longest's room
                raise DecodingError("an array of texts of the result is too large")
            return numpy.array(texts, dtype=str).reshape(shape)
        array = numpy.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            array[index] = item
        return array.reshape(shape)
    return _from_bytes(_string(node["dtype"], 20), _read_bytes(node, depth), math.prod(shape)).reshape(shape)


def _read_scalar(node: dict[str, Any], depth: int) -> Any:
    return _from_bytes(_string(node["dtype"], 20), _read_bytes(node, depth), 1)[0]


def _from_bytes(dtype: str, data: bytes, count: int) -> Any:
    import numpy

    if not _NUMERIC_DTYPE.fullmatch(dtype):
        raise DecodingError(f"an array of the result has the data type {dtype!r}")
    kind = numpy.dtype(dtype)
    if kind.itemsize * count != len(data):
        raise DecodingError("the shape of an array of the result does not fit its data")
    if kind.kind == "b":
        return numpy.frombuffer(data, dtype="u1") != 0
    return numpy.frombuffer(data, dtype=kind).astype(kind.newbyteorder("="))


_READERS: dict[str, Callable[[dict[str, Any], int], Any]] = {
    "int": _read_integer,
    "float": _read_special_float,
    "complex": _read_complex,
    "bytes": _read_bytes,
    "tuple": lambda node, depth: tuple(_read_items(node, depth)),
    "set": lambda node, depth: set(_read_hashed(node, depth)),
    "frozenset": lambda node, depth: frozenset(_read_hashed(node, depth)),
    "dict": _read_dict,
    "array": _read_array,
    "scalar": _read_scalar,
    "enum": lambda node, depth: EnumValue(
        _string(node["type"], 401), _string(node["name"], 200), _decoded(node["v"], depth)
    ),
    "mson": lambda node, depth: MsonObject(_string(node["type"], 401), _read_dict(node, depth)),
    "object": lambda node, _depth: OpaqueObject(_string(node["type"], 401), _string(node["v"], MAX_TEXT)),
}
