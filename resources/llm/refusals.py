"""Which part of a request a provider refused, read from its words.

The bodies differ and most do not name the field in a field of its own, so the message is searched. Seen in public
reports of 2024 to 2026 from OpenAI, Azure, Anthropic, Gemini, Volcengine, DashScope, vLLM, llama.cpp and Ollama.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PARTS = {
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "token_cap": re.compile(r"\bmax_(completion_)?tokens\b", re.IGNORECASE),
    "effort": re.compile(r"\b(reasoning_)?effort\b", re.IGNORECASE),
    "stream": re.compile(r"\bstream(ing)?\b", re.IGNORECASE),
    "tools": re.compile(r"\btools?\b|tool_choice|\bfunction call", re.IGNORECASE),
    "structured": re.compile(
        r"response_format|response mime|json_schema|output[_ ]format|output_config\.format|structured output",
        re.IGNORECASE,
    ),
}
_REFUSED = re.compile(r"HTTP (400|422|5\d\d): ")
_MOST_TOKENS = re.compile(
    r"supports at most (\d+) (?:completion|output) tokens|> (\d+), which is the maximum allowed|"
    r"expected a value <= (\d+)"
)
_ALL_VALUES = re.compile(r"supported values are:(.*)", re.IGNORECASE)
_QUOTED = re.compile(r"['\"`](\w+)['\"`]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """`part` is what was refused, None where the words name none or several; `most_tokens` is the longest answer that
    may be asked for, `values` are those that the provider offers instead."""

    part: str | None
    most_tokens: int | None = None
    values: tuple[str, ...] = ()


def refusal(error: str) -> Refusal | None:
    """What an answer's `error` refuses, or None where it is no refusal of the request's form."""
    if not _REFUSED.match(error):
        return None
    named = [part for part, words in _PARTS.items() if words.search(error)]
    part = named[0] if len(named) == 1 else None
    most = _MOST_TOKENS.search(error) if part == "token_cap" else None
    values = _ALL_VALUES.search(error) if part == "effort" else None
    return Refusal(
        part,
        int(next(filter(None, most.groups()))) if most else None,
        tuple(_QUOTED.findall(values.group(1))) if values else (),
    )
