"""How well a model uses a library: functions it writes, their executions and verdicts."""

import dagster as dg

from resources.settings import Settings


def tool_usage_defs(_settings: Settings) -> dg.Definitions:
    """The assets, checks and automation of this part."""
    return dg.Definitions()
