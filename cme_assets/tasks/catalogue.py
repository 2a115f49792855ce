"""All task categories by identifier."""

from __future__ import annotations

from collections.abc import Iterable

from cme_assets.tasks import (
    a_fermi_edge,
    b_dispersions,
    b_extrema_and_gaps,
    c_line_widths,
    d_mode_energies,
    e_fermi_surfaces,
    f_lattice_and_spin,
    g_charge_and_orbital,
)
from cme_assets.tasks.category import Category, CategoryError

_DOMAINS = (
    a_fermi_edge,
    b_dispersions,
    b_extrema_and_gaps,
    c_line_widths,
    d_mode_energies,
    e_fermi_surfaces,
    f_lattice_and_spin,
    g_charge_and_orbital,
)


def by_id(categories: Iterable[Category]) -> dict[str, Category]:
    """The categories by identifier, in their order. Raises CategoryError where two have the same one."""
    found: dict[str, Category] = {}
    for category in categories:
        if category.id in found:
            raise CategoryError(
                f"category {category.id!r}: is there twice, as {found[category.id].title!r} and {category.title!r};"
                " give one of them another id"
            )
        found[category.id] = category
    return found


CATEGORIES = by_id(category for domain in _DOMAINS for category in domain.CATEGORIES)
