"""From simulated maps to the problem that an entrant sees."""

from __future__ import annotations

from collections.abc import Sequence

from cme_assets.closed_book import ClosedBookProblem, Exhibit, ListedValues
from cme_assets.physics.resolution import FWHM_PER_SIGMA, Instrument
from cme_assets.physics.types import Array
from cme_assets.problems import EXAMPLES, Sample, kernel_sigmas
from cme_assets.tables import Table
from cme_assets.tasks.category import Category, Level, MapKind

CORNERS = {
    MapKind.ENERGY_MOMENTUM: "E(eV)\\k(1/A)",
    MapKind.MOMENTUM_MOMENTUM: "ky(1/A)\\kx(1/A)",
    MapKind.LOSS_MOMENTUM: "loss(eV)\\q(1/A)",
}


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
