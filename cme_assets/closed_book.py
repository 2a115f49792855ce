"""A problem as an entrant sees it: three worked examples and one question, and nothing of how they were made.

Prompts are written from this object and solvers work on it, so that no entrant sees more than another.
"""

from __future__ import annotations

from dataclasses import dataclass

from cme_assets.tables import Table
from cme_assets.tasks.category import Given, MapKind, Quantity


@dataclass(frozen=True)
class ListedValues:
    """The printed row or column values that an array answer is asked for; `axis` is "row" or "column"."""

    axis: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Exhibit:
    """One table and what the prompt says about it; `answer` is None for the question."""

    table: Table
    given: tuple[Given, ...]
    listed: ListedValues | None
    answer: tuple[float, ...] | None


@dataclass(frozen=True)
class ClosedBookProblem:
    """Everything that a prompt states. Kernel widths are full widths at half maximum, eV or 1/Angstrom."""

    category_id: str
    map_kind: MapKind
    observed: str
    question: str
    quantity: Quantity
    fwhm_rows: float
    fwhm_columns: float
    examples: tuple[Exhibit, ...]
    test: Exhibit

    @property
    def wanted(self) -> int:
        """How many numbers the answer has."""
        return len(self.test.listed.values) if self.test.listed else len(self.quantity.names)
