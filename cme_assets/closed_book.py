"""A problem as an entrant sees it: three worked examples and one question, and nothing of how they were made.

Prompts are written from this object and solvers work on it, so that no entrant sees more than another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cme_assets.physics.resolution import FWHM_PER_SIGMA, Instrument
from cme_assets.physics.types import Array
from cme_assets.problems import EXAMPLES, Sample, kernel_sigmas
from cme_assets.tables import Table
from cme_assets.tasks.category import Category, Given, Level, MapKind, Quantity

CORNERS = {
    MapKind.ENERGY_MOMENTUM: "E(eV)\\k(1/A)",
    MapKind.MOMENTUM_MOMENTUM: "ky(1/A)\\kx(1/A)",
    MapKind.LOSS_MOMENTUM: "loss(eV)\\q(1/A)",
}


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


def measured_table(sample: Sample, values: Array) -> Table:
    """The table of a map of this sample."""
    return Table.of_map(values, sample.axes.printed_y, sample.axes.x.centers, CORNERS[sample.category.map_kind])


def pose(
    category: Category, level: Level, instrument: Instrument, maps: Sequence[tuple[Sample, Array]]
) -> ClosedBookProblem:
    """The problem made of four samples with their noisy maps, examples first."""
    exhibits = [_exhibit(sample, values) for sample, values in maps]
    sigma_rows, sigma_columns = kernel_sigmas(category.map_kind, level, instrument)
    test = exhibits[EXAMPLES]
    return ClosedBookProblem(
        category_id=category.id,
        map_kind=category.map_kind,
        observed=category.observed,
        question=category.question,
        quantity=category.quantity,
        fwhm_rows=sigma_rows * FWHM_PER_SIGMA,
        fwhm_columns=sigma_columns * FWHM_PER_SIGMA,
        examples=tuple(exhibits[:EXAMPLES]),
        test=Exhibit(test.table, test.given, test.listed, None),
    )


def _exhibit(sample: Sample, values: Array) -> Exhibit:
    table = measured_table(sample, values)
    listed = None
    if sample.listed is not None:
        axis, printed = ("row", table.rows) if sample.listed.axis == "y" else ("column", table.columns)
        listed = ListedValues(axis, tuple(printed[sample.listed.positions].tolist()))
    return Exhibit(table, sample.given, listed, tuple(sample.truth.tolist()))
