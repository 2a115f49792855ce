"""The order in which Python looks through a class and its bases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

OUTSIDE_BASE = -1
"""Stands for a base class that is not part of the source."""


def linearise(index: int, bases: Sequence[int], order_of: Callable[[int], Sequence[int]]) -> tuple[int, ...]:
    """The method resolution order (C3) of a class with these bases, whose own orders `order_of` gives.

    Each outside base is `OUTSIDE_BASE`. Where Python would refuse the bases, the order is as near as can be.
    """
    if len(bases) == 1:  # as `_merge` would, without its comparisons: chains can be long
        return (index, *[item for item in (order_of(bases[0]) if bases[0] != OUTSIDE_BASE else bases) if item != index])
    sequences = [list(order_of(base)) if base != OUTSIDE_BASE else [base] for base in bases]
    return (index, *[item for item in _merge([*sequences, list(bases)]) if item != index])


def _merge(sequences: list[list[int]]) -> list[int]:
    merged: list[int] = []
    rest = [list(sequence) for sequence in sequences if sequence]
    while rest:
        head = next(
            (sequence[0] for sequence in rest if not any(sequence[0] in other[1:] for other in rest)), rest[0][0]
        )
        merged.append(head)
        rest = [kept for sequence in rest if (kept := [item for item in sequence if item != head])]
    return merged
