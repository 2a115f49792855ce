"""Values on their way out of the sandbox: `encode` runs inside, beside the model's code, and writes typed JSON.

A JSON null, boolean, string, integer below 2**53, finite float or array (a list) stands for itself; everything else is
an object `{"t": tag, ...}`. Nothing here need be trusted, because the model's code shares the process and can write any
bytes it likes: what protects the host is `decoding.py`. What this file has to do is to represent honest values exactly
and to end, with a clear message, on any value.

This file is copied into the sandbox, so it needs the standard library alone; numpy is only touched when it is loaded.
"""

from __future__ import annotations

import base64
import enum
import json
import math
import sys
from collections.abc import Iterable
from typing import Any

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 2_000_000
MAX_TEXT = 2_000
MAX_INTEGER_BITS = 13_000  # below CPython's limit of 4,300 decimal digits, so that it can be printed again
SAFE_INTEGER = 2**53

_JSON_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


class EncodingError(ValueError):
    """A value that cannot be sent: too large or of too many parts."""


def encode(value: Any, max_bytes: int = MAX_BYTES) -> bytes:
    """`value` as ASCII JSON of at most `max_bytes`. Raises EncodingError when it is larger."""
    text = _JSON_ENCODER.encode(_Encoder(max_bytes).node(value, 0))
    if len(text) > max_bytes:
        raise EncodingError(f"the result is larger than {max_bytes} bytes")
    return text.encode("ascii")


def type_name(value: Any) -> str:
    """Full name of the real class of `value`, whatever its `__class__` claims."""
    real = type(value)
    return (
        f"{_text_of(type.__dict__['__module__'].__get__(real))}.{_text_of(type.__dict__['__qualname__'].__get__(real))}"
    )


def _text_of(value: Any) -> str:
    return str.__str__(value)[:200] if issubclass(type(value), str) else "?"


class _Encoder:
    """Turns values into JSON trees, counting what it has spent."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.spent_bytes = 0
        self.nodes = 0
        self.open: set[int] = set()

    def node(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise EncodingError(f"the result has more than {MAX_NODES} parts")
        real = type(value)
        if value is None or real is bool:
            return value
        if real is str:
            return self._text(value)
        if real is int:
            return self._integer(value)
        if real is float:
            return _float_node(value)
        if depth >= MAX_DEPTH or id(value) in self.open:
            return self._opaque(value)
        self.open.add(id(value))
        try:
            return self._compound(value, real, depth + 1)
        finally:
            self.open.discard(id(value))

    def _compound(self, value: Any, real: type, depth: int) -> Any:
        described = self._described(value, real, depth)
        if described is not None:
            return described
        numpy = sys.modules.get("numpy")
        if numpy is not None and issubclass(real, numpy.ndarray):
            return self._array(numpy.asarray(value), numpy, depth)
        if numpy is not None and issubclass(real, numpy.generic):  # before float, of which numpy.float64 is a subclass
            return self._scalar(value, numpy, depth)
        plain = self._plain(value, real, depth)
        return self._opaque(value) if plain is None else plain

    def _plain(self, value: Any, real: type, depth: int) -> Any:
        """The node of a built-in type's subclass; None for other objects.

        The unbound methods of the base classes read its content without calling what the subclass overrides.
        """
        if issubclass(real, str):
            return self._text(str.__str__(value))
        if issubclass(real, int):
            return self._integer(int.__int__(value))
        if issubclass(real, float):
            return _float_node(float.__pos__(value))
        if issubclass(real, complex):
            return {"t": "complex", "v": [_float_node(_part(value, "real")), _float_node(_part(value, "imag"))]}
        if issubclass(real, bytes | bytearray | memoryview):
            return {"t": "bytes", "v": self._bytes(bytes(memoryview(value)))}
        if issubclass(real, list):
            return self._items(list.__iter__(value), depth)
        if real is range:
            return self._items(value, depth)
        for tag, base in (("tuple", tuple), ("set", set), ("frozenset", frozenset)):
            if issubclass(real, base):
                return {"t": tag, "v": self._items(base.__iter__(value), depth)}
        if issubclass(real, dict):
            return {"t": "dict", "v": self._pairs(dict.items(value), depth)}
        return None

    def _described(self, value: Any, real: type, depth: int) -> Any:
        """The node of an object with `as_dict` or of an enumeration's member; None for others."""
        as_dict = getattr(real, "as_dict", None)
        if callable(as_dict):
            try:
                data = as_dict(value)
            except Exception:
                return self._opaque(value)
            if type(data) is dict:
                return {"t": "mson", "type": type_name(value), "v": self._pairs(dict.items(data), depth)}
        if issubclass(real, enum.Enum):
            name, content = getattr(value, "_name_", None), getattr(value, "_value_", None)
            return {"t": "enum", "type": type_name(value), "name": _text_of(name), "v": self.node(content, depth)}
        return None

    def spend(self, size: int) -> None:
        """Counts `size` bytes before they are copied, so that a huge value fails early."""
        self.spent_bytes += size
        if self.spent_bytes > self.max_bytes:
            raise EncodingError(f"the result is larger than {self.max_bytes} bytes")

    def _text(self, value: str) -> str:
        self.spend(len(value))
        return value.encode("utf-8", "replace").decode("utf-8")

    def _integer(self, value: int) -> Any:
        if -SAFE_INTEGER < value < SAFE_INTEGER:
            return value
        if value.bit_length() > MAX_INTEGER_BITS:
            return {"t": "object", "type": "builtins.int", "v": f"<integer of {value.bit_length()} bits>"}
        return {"t": "int", "v": format(value, "x")}

    def _items(self, values: Iterable[Any], depth: int) -> list[Any]:
        return [self.node(item, depth) for item in values]

    def _pairs(self, pairs: Iterable[tuple[Any, Any]], depth: int) -> list[Any]:
        return [[self.node(key, depth), self.node(item, depth)] for key, item in pairs]

    def _bytes(self, value: bytes) -> str:
        self.spend(len(value) * 4 // 3)
        return base64.b64encode(value).decode("ascii")

    def _array(self, array: Any, numpy: Any, depth: int) -> Any:
        if numpy.ma.isMaskedArray(array):
            array = numpy.ma.getdata(array)
        shape = [int(length) for length in array.shape]
        if array.dtype.kind in "OUSV" or array.dtype.names:
            kind = "str" if array.dtype.kind == "U" else "object"
            return {"t": "array", "dtype": kind, "shape": shape, "v": self._items(array.ravel().tolist(), depth)}
        self.spend(int(array.nbytes))
        array = _portable(array, numpy)
        return {"t": "array", "dtype": array.dtype.str, "shape": shape, "v": self._bytes(array.tobytes())}

    def _scalar(self, value: Any, numpy: Any, depth: int) -> Any:
        array = numpy.asarray(value)
        if array.dtype.kind in "OUSV":
            return self.node(array.item(), depth)
        array = _portable(array, numpy)
        return {"t": "scalar", "dtype": array.dtype.str, "v": self._bytes(array.tobytes())}

    def _opaque(self, value: Any) -> Any:
        try:
            text = _text_of_repr(value)
        except Exception as error:
            text = f"<repr failed with {type(error).__name__}>"
        return {"t": "object", "type": type_name(value), "v": self._text(text)}


def _text_of_repr(value: Any) -> str:
    return str.__str__(repr(value))[:MAX_TEXT]


def _portable(array: Any, numpy: Any) -> Any:
    """Long doubles become doubles: their size depends on the machine."""
    wide = {"f": numpy.float64, "c": numpy.complex128}
    kind = array.dtype.kind
    return (
        array.astype(wide[kind]) if kind in wide and array.dtype.itemsize > numpy.dtype(wide[kind]).itemsize else array
    )


def _float_node(value: float) -> Any:
    return value if math.isfinite(value) else {"t": "float", "v": float.__repr__(value)}


def _part(value: complex, name: str) -> float:
    part: float = complex.__dict__[name].__get__(value)
    return part
