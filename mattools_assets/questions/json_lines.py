"""Files of one JSON object a line, which somebody else wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from resources.strict_json import JsonError, parse


def read_objects(path: Path, fault: type[ValueError]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object with the words that say where it stands. Raises `fault`, one line with the place and the mend."""
    try:
        # Not splitlines: JSON takes separators such as U+2028 within a text.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise fault(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            entry = parse(line)
        except JsonError as error:
            raise fault(f"{where}: {error}; take the file as it was published") from None
        if not isinstance(entry, dict):
            raise fault(f"{where}: write one JSON object a line")
        yield where, entry
