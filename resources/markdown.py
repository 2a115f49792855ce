"""Texts of others in Markdown: shown as they are, without effect."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST = 4_000


def fenced(text: str, language: str = "", longest: int = LONGEST) -> str:
    """`text` as a code block that nothing in it can end; beyond `longest` characters it is cut, and says so."""
    if len(text) > longest:
        text = f"{text[:longest]}\n… {len(text) - longest:,} more characters"
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def markdown_table(head: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    """A table; line breaks and bars in cells lose their meaning."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
