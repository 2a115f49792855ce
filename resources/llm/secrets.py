"""Keys go to their provider and nowhere else: whatever is kept or shown is cleaned of them first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from resources.model_entry import ModelEntry

SHORTEST_KEY = 8


def key_of(entry: ModelEntry, environment: Mapping[str, str]) -> str | None:
    """The entry's key, or None when it needs none. Raises ValueError with one line when it is not set."""
    if entry.key_env is None:
        return None
    if key := environment.get(entry.key_env, "").strip():
        return key
    raise ValueError(f"{entry.name}: {entry.key_env} is not set; put it into .env or the environment")


class Redactor:
    """Replaces a key in bytes and texts. Placeholders such as `none`, too short to be a key, are left alone.

    In bytes, which may be JSON, its characters may be written as escapes.
    """

    def __init__(self, key: str | None) -> None:
        forms = {key, quote(key, safe="")} if key and len(key) >= SHORTEST_KEY else set()
        self._forms = [(form.encode(), form) for form in forms if form]
        self._escaped = [re.compile(b"".join(map(_escapable, form))) for form in forms if form]

    def bytes(self, data: bytes) -> bytes:
        """`data` without the key."""
        for form, _ in self._forms:
            if form in data:
                data = data.replace(form, b"[key]")
        if b"\\u" in data or b"\\/" in data:
            for pattern in self._escaped:
                data = pattern.sub(b"[key]", data)
        return data

    def text(self, text: str) -> str:
        """`text` without the key."""
        for _, form in self._forms:
            text = text.replace(form, "[key]")
        return text


def _escapable(character: str) -> bytes:
    """A pattern of the ways in which JSON can write `character`."""
    backslash = b"\\\\?" if character in '"\\/' else b""
    return b"(?:%s%s|\\\\u(?i:%04x))" % (backslash, re.escape(character.encode()), ord(character))
