"""All task categories by identifier."""

from __future__ import annotations

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
from cme_assets.tasks.category import Category

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

CATEGORIES: dict[str, Category] = {category.id: category for domain in _DOMAINS for category in domain.CATEGORIES}
