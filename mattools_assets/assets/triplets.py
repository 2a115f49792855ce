"""Questions on tool usage drafted from a library's unit tests, their proof and their review."""

import dagster as dg

from resources.settings import Settings


def triplets_defs(_settings: Settings) -> dg.Definitions:
    """The assets, checks and automation of this part."""
    return dg.Definitions()
