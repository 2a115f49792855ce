"""Messages between the host and a worker: a length, a JSON header, then the byte strings whose sizes it names."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

MAX_HEADER = 1024 * 1024


class FrameError(ValueError):
    """Bytes that are not a message, or one beyond its bound."""


def pack(header: dict[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """The message as bytes."""
    text = json.dumps({**header, "sizes": [len(blob) for blob in blobs]}).encode()
    return b"".join([struct.pack(">I", len(text)), text, *blobs])


def unpack(read: Callable[[int], bytes], max_bytes: int) -> tuple[dict[str, Any], list[bytes]]:
    """One message from `read(n)`, which returns n bytes or raises EOFError. Raises FrameError beyond the bounds."""
    (length,) = struct.unpack(">I", read(4))
    if length > MAX_HEADER:
        raise FrameError(f"a header of {length} bytes")
    try:
        header = json.loads(read(length))
        sizes = header["sizes"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FrameError(f"no header: {type(error).__name__}") from None
    if (
        not isinstance(sizes, list)
        or not all(type(size) is int and size >= 0 for size in sizes)
        or sum(sizes) > max_bytes
    ):
        raise FrameError("sizes that are none or too large")
    return header, [read(size) for size in sizes]
