"""Fits of lines and edges, curve by curve, answered in two ways.

`by_rows` is the published human baseline's method: where an answer lists rows or columns, each is that curve's own
fit. `by_laws` draws what the prompt says about all rows together through them: a straight line, a parabola, a width's
law, one damping, a smooth dispersion. Single numbers (a velocity is a line through rows) are the same in both.

Every method sees a closed-book problem and nothing else, and needs nothing that makes problems, so that the package
can be shipped into a sandbox. Each module below names the categories it solves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.charge_order import CHARGE_ORDER
from cme_assets.solvers.rowwise.dispersions import DISPERSIONS, DISPERSIONS_ALONE
from cme_assets.solvers.rowwise.extrema import EXTREMA, EXTREMA_ALONE
from cme_assets.solvers.rowwise.fermi_edge import FERMI_EDGE
from cme_assets.solvers.rowwise.fermi_surfaces import FERMI_SURFACES
from cme_assets.solvers.rowwise.gaps import GAP
from cme_assets.solvers.rowwise.kinks import KINKS
from cme_assets.solvers.rowwise.rixs_dispersions import RIXS_DISPERSIONS, RIXS_DISPERSIONS_ALONE
from cme_assets.solvers.rowwise.rixs_lines import RIXS_LINES
from cme_assets.solvers.rowwise.superstructures import SUPERSTRUCTURES, SUPERSTRUCTURES_ALONE
from cme_assets.solvers.rowwise.widths import WIDTHS, WIDTHS_ALONE

Method = Callable[[ClosedBookProblem], Array]

LAWS: dict[str, Method] = {
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

ROWS: dict[str, Method] = {
    **LAWS,
    **DISPERSIONS_ALONE,
    **SUPERSTRUCTURES_ALONE,
    **WIDTHS_ALONE,
    **EXTREMA_ALONE,
    **RIXS_DISPERSIONS_ALONE,
}
"""The same, with every listed row or column standing for itself."""


def by_rows(problem: ClosedBookProblem) -> Sequence[float]:
    """The row-by-row answer, `problem.wanted` numbers. Raises NotImplementedError for a category without a method."""
    return _answer(problem, ROWS)


def by_laws(problem: ClosedBookProblem) -> Sequence[float]:
    """The answer by the stated laws, `problem.wanted` numbers. Raises NotImplementedError like `by_rows`."""
    return _answer(problem, LAWS)


def _answer(problem: ClosedBookProblem, methods: dict[str, Method]) -> Sequence[float]:
    method = methods.get(problem.category_id)
    if method is None:
        raise NotImplementedError(f"{problem.category_id}: no method yet; add one to cme_assets.solvers.rowwise")
    return [float(value) for value in method(problem)]
