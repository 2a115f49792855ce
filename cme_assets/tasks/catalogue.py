"""All task categories by identifier."""

from __future__ import annotations

from cme_assets.tasks import a_fermi_edge, b_dispersions
from cme_assets.tasks.category import Category

_DOMAINS = (a_fermi_edge, b_dispersions)

CATEGORIES: dict[str, Category] = {category.id: category for domain in _DOMAINS for category in domain.CATEGORIES}
