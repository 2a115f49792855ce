"""Entrants that need no key: they see what a model sees and answer by a fixed method."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws, by_rows
from cme_assets.solvers.trivial import argmax, centre, example_mean, example_position

Entrant = Callable[[ClosedBookProblem], Sequence[float] | Array]

ENTRANTS: dict[str, Entrant] = {
    "reference-rowwise": by_rows,
    "reference-laws": by_laws,
    "centre": centre,
    "argmax": argmax,
    "example-mean": example_mean,
    "example-position": example_position,
}
"""By the name that `models.yaml` uses. `reference-rowwise` stands for the published human baseline; `reference-laws`
also draws the laws that the prompts name through the rows."""
