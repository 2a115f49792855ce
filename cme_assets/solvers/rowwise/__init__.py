"""The published human baseline's method: curve by curve, row by row, with line and edge fits.

Every method sees a closed-book problem and nothing else, and needs nothing that makes problems, so that the package
can be shipped into a sandbox. Each module below names the categories it solves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.charge_order import CHARGE_ORDER
from cme_assets.solvers.rowwise.dispersions import DISPERSIONS
from cme_assets.solvers.rowwise.extrema import EXTREMA
from cme_assets.solvers.rowwise.fermi_edge import FERMI_EDGE
from cme_assets.solvers.rowwise.fermi_surfaces import FERMI_SURFACES
from cme_assets.solvers.rowwise.gaps import GAP
from cme_assets.solvers.rowwise.kinks import KINKS
from cme_assets.solvers.rowwise.rixs_dispersions import RIXS_DISPERSIONS
from cme_assets.solvers.rowwise.rixs_lines import RIXS_LINES
from cme_assets.solvers.rowwise.superstructures import SUPERSTRUCTURES
from cme_assets.solvers.rowwise.widths import WIDTHS

METHODS: dict[str, Callable[[ClosedBookProblem], Array]] = {
    **FERMI_EDGE,
    **DISPERSIONS,
    **SUPERSTRUCTURES,
    **WIDTHS,
    **KINKS,
    **EXTREMA,
    **GAP,
    **FERMI_SURFACES,
    **RIXS_LINES,
    **RIXS_DISPERSIONS,
    **CHARGE_ORDER,
}
"""Method by category, gathered from the modules."""


def solve(problem: ClosedBookProblem) -> Sequence[float]:
    """The row-by-row answer, `problem.wanted` numbers. Raises NotImplementedError for a category without a method."""
    method = METHODS.get(problem.category_id)
    if method is None:
        raise NotImplementedError(
            f"{problem.category_id}: no row-by-row method yet; add one to cme_assets.solvers.rowwise"
        )
    return [float(value) for value in method(problem)]
