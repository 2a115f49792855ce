"""Numbers out of a reply: a strict reading of the required form and a lenient one of whatever was written.

Replies are hostile text: nothing here raises, and the time taken grows in proportion to the length.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from resources.outcomes import Status

MAX_ANSWER_CHARACTERS = 100_000
"""No answer is longer; what exceeds it is not read."""

_OPENING, _CLOSING = "<answer>", "</answer>"
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?|[+-]?\b(?:nan|inf(?:inity)?)\b"
_ANY_NUMBER = re.compile(_NUMBER, re.IGNORECASE)
_LIST = re.compile(r"[\[({]([^\[\](){}]*)[\])}]")


@dataclass(frozen=True)
class Reading:
    """Values found, or None, and the status that this reading gives the reply."""

    values: tuple[float, ...] | None
    status: Status


def read_strict(reply: str, wanted: int) -> Reading:
    """The JSON list of finite numbers inside the last pair of answer tags; `wanted` is how many it must have."""
    tagged = _last_tagged(reply)
    if tagged is None:
        return Reading(None, Status.UNPARSEABLE)
    try:
        content = json.loads(tagged)
        values = tuple(map(_finite, content)) if isinstance(content, list) else None
    except (ValueError, OverflowError, RecursionError):
        values = None
    if values is None:
        return Reading(None, Status.UNPARSEABLE)
    return Reading(values, Status.OK if len(values) == wanted else Status.WRONG_SHAPE)


def read_lenient(reply: str, wanted: int) -> Reading:
    """The last number, or the last list of numbers, in the reply; in the last answer tags where there are any."""
    tagged = _last_tagged(reply)
    text = plain(tagged if tagged is not None else reply[-MAX_ANSWER_CHARACTERS:])
    values = _last_number(text) if wanted == 1 else _last_list(text)
    if not values:
        return Reading(None, Status.UNPARSEABLE)
    return Reading(values, Status.OK if len(values) == wanted else Status.WRONG_SHAPE)


def _last_tagged(reply: str) -> str | None:
    """What stands between the last closing tag and the opening tag nearest before it.

    Searched for from the end: a pattern would start anew at each of many unclosed tags.
    """
    # Only ASCII letters are lowered: other letters may change their length, and with it every place after them.
    lowered = reply.translate(_ASCII_LOWER)
    end = lowered.rfind(_CLOSING)
    start = lowered.rfind(_OPENING, 0, max(end, 0))
    found = reply[start + len(_OPENING) : end] if start >= 0 else None
    return found if found is not None and len(found) <= MAX_ANSWER_CHARACTERS else None


def _finite(value: object) -> float:
    # A boolean is an integer to Python, and NaN, Infinity and 1e400 are numbers to its JSON.
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError("not a finite number")
    return float(value)


_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_MINUS_SIGNS = str.maketrans(
    {"−": "-", "–": "-", "‐": "-", "‑": "-", "﹣": "-", "-": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " "}
)
# Possessive where blanks may follow one another: else two such places share out a long run of them in every way.
_POWER_OF_TEN = re.compile(
    r"[ \t]{0,4}(?:\\times|\\cdot|×|·|\*)\s*+10\s*+(?:\^|\*\*)\s*+\{?\s*+([+-]?\d{1,4})(?:\s*+\})?"
)
_SUPERSCRIPT_POWER = re.compile(r"[ \t]{0,4}(?:×|·)\s{0,4}10([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})")
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
_UNIT_POWER = re.compile(r"(?<=[A-Za-zÅ}])\s*+(?:\^\s*+\{?\s*+-?\d(?:\s*+\})?|[⁻]?[¹²³])")
_UNIT_INVERSE = re.compile(r"\b1\s*+/\s*+(?:Å|A\b|Angstrom)", re.IGNORECASE)


def plain(text: str) -> str:
    """`text` with typographic signs, LaTeX, Markdown and unit exponents off: only numbers look like numbers then."""
    text = text.translate(_MINUS_SIGNS)
    text = _SUPERSCRIPT_POWER.sub(lambda match: "e" + match.group(1).translate(_SUPERSCRIPTS), text)
    text = _POWER_OF_TEN.sub(r"e\1", text)
    text = re.sub(r"\\[,;:!]|\\left|\\right|\\(?:text|mathrm|mathbf|boxed)\b|[$`*_~]", "", text)
    text = _UNIT_INVERSE.sub("", text)
    text = _UNIT_POWER.sub("", text)
    return _THOUSANDS.sub(lambda match: match.group(1).replace(",", ""), text)


def _last_number(text: str) -> tuple[float, ...]:
    found = [match.group() for match in _ANY_NUMBER.finditer(text)]
    return (float(found[-1]),) if found else ()


def _last_list(text: str) -> tuple[float, ...]:
    """The last bracketed list with more than one number, or all numbers where nothing is bracketed."""
    candidates = [_numbers(match.group(1)) for match in _LIST.finditer(text)]
    lists = [values for values in candidates if len(values) > 1]
    return lists[-1] if lists else _numbers(text)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(match.group()) for match in _ANY_NUMBER.finditer(text))
