"""How estimates are said: counts with their words, amounts of money, and what all lines come to."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[float, float]
"""The fewest and the most."""


def counted(number: int, word: str) -> str:
    """The number with its word, in the plural where it is not one."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def dollars(amount: float) -> str:
    """US dollars to the cent; what costs less than half of one is not said to cost nothing."""
    return "less than $0.01" if 0 < amount < 0.005 else f"${amount:,.2f}"


def spanned(fewest: str, most: str, joint: str = " to ") -> str:
    """Both, or one where they read the same."""
    return fewest if fewest == most else f"{fewest}{joint}{most}"


def in_all(lines: Sequence[Span | None], joint: str = " to ") -> str:
    """What the lines come to, `joint` between fewest and most; None is a line that has no price or no estimate."""
    known = [line for line in lines if line is not None]
    unknown = len(lines) - len(known)
    if not lines:
        return "there is no model to ask; nobody was asked"
    if not known:
        return f"no sum: {_without(unknown)}; nobody was asked"
    amount = spanned(dollars(sum(low for low, _ in known)), dollars(sum(high for _, high in known)), joint)
    without = f", and {_without(unknown)}" if unknown else ""
    return f"in all {amount}{without}; nobody was asked"


def _without(lines: int) -> str:
    return f"{counted(lines, 'line')} {'has' if lines == 1 else 'have'} no price or no estimate"
