"""Bodies of replies as bytes and back, whatever is in them: a reply is a stranger's text."""

from __future__ import annotations

import codecs
import json
from typing import Any

import orjson


def parse(body: bytes) -> Any:
    """JSON, also such as holds half a surrogate pair, which models write now and then. Raises ValueError."""
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            text = json.dumps(json.loads(body.decode("utf-8", "replace")), ensure_ascii=False)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        return json.loads(text.encode("utf-8", "replace"))


def written(document: Any) -> bytes:
    """`document` as JSON that `parse` reads, also with halves of pairs and numbers of any length. Raises ValueError."""
    try:
        return orjson.dumps(document)
    except TypeError:
        try:
            # As escapes, so that two halves that follow each other become one character when they are read.
            return json.dumps(document, default=str).encode()
        except RecursionError:
            raise ValueError("nested too deeply") from None


def is_writable(value: Any) -> bool:
    """Whether `value` can be part of a request's body: what is read may be nested deeper than what is written."""
    around = [[[[[[[[value]]]]]]]]
    try:
        orjson.dumps(around)
    except TypeError:
        return False
    return True
