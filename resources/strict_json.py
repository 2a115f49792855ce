"""JSON that other people wrote, with a few words for whatever is wrong with it.

Python's reader keeps the last of two equal keys without a word, takes texts that no file can hold, and answers long
numbers with errors of its own.
"""

from __future__ import annotations

import json
from typing import Any


class JsonError(ValueError):
    """What is wrong with a JSON text, in a few words."""


def parse(text: str) -> Any:
    """The value that `text` describes. Raises JsonError, and nothing else."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except JsonError:
        raise
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text else ""
        raise JsonError(f"not whole JSON ({error.msg} at {line}column {error.colno})") from None
    except ValueError:  # only `int` is left to refuse anything
        raise JsonError("a number has too many digits") from None


def is_whole(text: str) -> bool:
    """Whether UTF-8 can hold `text`: an escape such as `\\ud800` stands for half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise JsonError(f"the key {name[:100]!a} is there twice in one object")
        found[name] = value
    return found
