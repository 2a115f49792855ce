"""How both official clients are connected: no redirects, so that a key reaches its own address and no other."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

CONNECT_SECONDS = 10.0
# A reasoning model may be silent this long before its first token.
SILENT_SECONDS = 600.0
# Either kit adds the headers that this variable holds to requests to any address.
_AMBIENT_HEADERS = ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS")
_environment_lock = threading.Lock()


def connection_options(connections: int) -> dict[str, Any]:
    """Arguments for a client with `connections` kept open."""
    return {
        "timeout": httpx2.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS, pool=None),
        "limits": httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        "follow_redirects": False,
    }


@contextmanager
def without_ambient_headers() -> Iterator[None]:
    """Hides headers meant for one address from a client that is made for another."""
    with _environment_lock:
        hidden = {name: os.environ.pop(name) for name in _AMBIENT_HEADERS if name in os.environ}
        try:
            yield
        finally:
            os.environ.update(hidden)
