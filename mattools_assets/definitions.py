"""The code location of MatTools: assets, checks and automation of its parts put together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import dagster as dg

from mattools_assets.assets.knowledge import knowledge_defs
from mattools_assets.assets.retrieval import retrieval_defs
from mattools_assets.assets.tool_usage import tool_usage_defs
from mattools_assets.assets.triplets import triplets_defs
from resources.console import plain_console
from resources.lake import Lake
from resources.settings import Settings, read_settings

PARTS = (knowledge_defs, triplets_defs, retrieval_defs, tool_usage_defs)


def build_defs(settings: Settings | None = None, overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The real graph; `overrides` replaces resources by name: `lake`, `settings`."""
    settings = settings or read_settings()
    resources: dict[str, Any] = {"lake": Lake(settings.lake), "settings": settings}
    with warnings.catch_warnings():
        # Single-run backfills are marked beta since 2023.
        warnings.simplefilter("ignore", dg.BetaWarning)
        parts = [part(settings) for part in PARTS]
    automation = dg.AutomationConditionSensorDefinition(
        "default_automation_condition_sensor",
        target=dg.AssetSelection.all(),
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    shared = dg.Definitions(
        sensors=[automation],
        resources=resources | dict(overrides or {}),
        executor=dg.in_process_executor,
        loggers={"console": plain_console},
    )
    return dg.Definitions.merge(shared, *parts)


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads."""
    return build_defs()
