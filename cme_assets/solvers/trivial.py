"""Entrants that look at next to nothing, for the leakage test: what they score, the ranges and the axes give away."""

from __future__ import annotations

import numpy as np

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.physics.types import Array
from cme_assets.tasks.category import MapKind


def centre(problem: ClosedBookProblem) -> Array:
    """The middle of the axis that the answer lies on, for every value asked."""
    return np.full(problem.wanted, _answer_axis(problem, problem.test).mean())


def argmax(problem: ClosedBookProblem) -> Array:
    """The axis value of the most intense pixel of the whole table, for every value asked."""
    table = problem.test.table
    row, column = np.unravel_index(np.argmax(table.counts), table.counts.shape)
    return np.full(problem.wanted, _answer_axis(problem, problem.test)[column if _along_columns(problem) else row])


def example_mean(problem: ClosedBookProblem) -> Array:
    """The mean of the three examples' answers; arrays of unequal length are met by fractional index."""
    return np.mean([_stretched(example.answer or (), problem.wanted) for example in problem.examples], axis=0)


def example_position(problem: ClosedBookProblem) -> Array:
    """The mean fractional position of the examples' answers on their axes, read off on the question's axis."""
    fractions = []
    for example in problem.examples:
        axis = _answer_axis(problem, example)
        fractions.append((_stretched(example.answer or (), problem.wanted) - axis[0]) / (axis[-1] - axis[0]))
    axis = _answer_axis(problem, problem.test)
    return axis[0] + np.mean(fractions, axis=0) * (axis[-1] - axis[0])


def _along_columns(problem: ClosedBookProblem) -> bool:
    """Whether the answer is read on the column axis; what has neither axis' unit is read on the row axis."""
    return problem.quantity.unit == "1/Angstrom" or problem.map_kind is MapKind.MOMENTUM_MOMENTUM


def _answer_axis(problem: ClosedBookProblem, exhibit: Exhibit) -> Array:
    return exhibit.table.columns if _along_columns(problem) else exhibit.table.rows


def _stretched(values: tuple[float, ...], length: int) -> Array:
    """`values` linearly interpolated to `length` places from first to last."""
    return np.interp(np.linspace(0.0, 1.0, length), np.linspace(0.0, 1.0, len(values)), values)
