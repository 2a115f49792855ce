"""The order in which Python looks through a class and its bases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

OUTSIDE_BASE = -1
"""Stands for a base class that is not part of the source."""


def linearise(index: int, bases_of: Callable[[int], Sequence[int]]) -> tuple[int, ...]:
    """The method resolution order (C3) of a class; each outside base is `OUTSIDE_BASE`.

    Where Python would refuse the bases, or a class is its own ancestor, the order is depth first instead.
    """
    return tuple(_linearise(index, bases_of, ()))


def _linearise(index: int, bases_of: Callable[[int], Sequence[int]], above: tuple[int, ...]) -> list[int]:
    if index == OUTSIDE_BASE or index in above:
        return [index]
    bases = list(bases_of(index))
    sequences = [_linearise(base, bases_of, (*above, index)) for base in bases]
    return [index, *_merge([*sequences, bases])]


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
