"""How both official clients are connected: no redirects, so that a key reaches its own address and no other."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx2

CONNECT_SECONDS = 10.0
# A reasoning model may be silent this long before its first token.
SILENT_SECONDS = 600.0
# The longest replies, with a million tokens or two thousand vectors, have less.
MOST_BYTES = 64 * 2**20
# Either kit adds the headers that this variable holds to requests to any address.
_AMBIENT_HEADERS = ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS")
_environment_lock = threading.Lock()


class BodyTooLong(Exception):
    """A body that no reply has, such as an endless stream."""


def connection_options(connections: int, most_bytes: int | None) -> dict[str, Any]:
    """Arguments for a client with `connections` kept open, to whom no body has more than `most_bytes`.

    Reading a longer one, as it is once decompressed, raises BodyTooLong.
    """

    async def bound(response: httpx2.Response) -> None:
        if most_bytes is not None:
            response.aiter_bytes = partial(_bounded, response.aiter_bytes, most_bytes)  # type: ignore[method-assign]

    return {
        "event_hooks": {"response": [bound]},
        "timeout": httpx2.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS, pool=None),
        "limits": httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        "follow_redirects": False,
    }


async def _bounded(
    read: Callable[[int | None], AsyncIterator[bytes]], most: int, chunk_size: int | None = None
) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in read(chunk_size):
        size += len(chunk)
        if size > most:
            raise BodyTooLong(f"it has more than {most:,} bytes")
        yield chunk


@contextmanager
def without_ambient_headers() -> Iterator[None]:
    """Hides headers meant for one address from a client that is made for another."""
    with _environment_lock:
        hidden = {name: os.environ.pop(name) for name in _AMBIENT_HEADERS if name in os.environ}
        try:
            yield
        finally:
            os.environ.update(hidden)
