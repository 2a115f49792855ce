"""The code location of MatTools."""

from __future__ import annotations

import dagster as dg


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads."""
    return dg.Definitions(executor=dg.in_process_executor)
