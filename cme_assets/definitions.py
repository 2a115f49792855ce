"""The code location of CME-SpectrumBench: assets, checks and automation put together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import dagster as dg

from cme_assets.assets.data import data_assets
from cme_assets.assets.estimates import estimate_asset
from cme_assets.assets.evaluation import evaluation_assets
from cme_assets.automation import build_automation
from cme_assets.checks import build_checks
from cme_assets.partitions import category_partitions, evaluation_partitions
from cme_assets.protocols import PROTOCOLS
from resources.console import plain_console
from resources.lake import Lake
from resources.settings import Settings, read_settings
from resources.workers import Workers


def build_defs(settings: Settings | None = None, overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The real graph; `overrides` replaces resources by name: `lake`, `workers`, `settings`."""
    settings = settings or read_settings()
    workers = Workers(preload=("cme_assets.protocols",))
    resources: dict[str, Any] = {"lake": Lake(settings.lake), "workers": workers, "settings": settings}
    with warnings.catch_warnings():
        # Single-run backfills are marked beta since 2023.
        warnings.simplefilter("ignore", dg.BetaWarning)
        assets = data_assets(category_partitions(settings))
        for protocol in PROTOCOLS:
            assets += evaluation_assets(protocol, evaluation_partitions(settings, protocol.name))
        assets.append(estimate_asset())
    own = dg.Definitions(
        assets=assets,
        asset_checks=build_checks(),
        resources=resources | dict(overrides or {}),
        executor=dg.in_process_executor,
        loggers={"console": plain_console},
    )
    return dg.Definitions.merge(own, build_automation(settings))


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads."""
    return build_defs()
