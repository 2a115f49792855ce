"""Tells Dagster of files in the lake that it has not seen: a killed run's, another instance's, or copied ones."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

from cme_assets import freshness
from cme_assets.partitions import MODEL, model_partitions, partition_key
from cme_assets.protocols import PROTOCOLS
from resources.lake import Key, Lake, LakeTable


def report_kept_files(lake: Lake, instance: dg.DagsterInstance, categories: list[str]) -> int:
    """Report every file of `categories` that has no materialization as one; how many there were.

    Models that are no partition any more are left out.
    """
    unseen = list(_unseen(lake, instance, categories))
    for table, partition in unseen:
        event = dg.AssetMaterialization(
            table.name, description="Found in the lake, made outside this instance's runs.", partition=partition
        )
        instance.report_runless_asset_event(event)
    return len(unseen)


def _unseen(lake: Lake, instance: dg.DagsterInstance, categories: list[str]) -> Iterator[tuple[LakeTable, str]]:
    for step in freshness.DATA:
        yield from _without_event(lake, instance, step.table, [{"category": category} for category in categories])
    for protocol in PROTOCOLS:
        models = instance.get_dynamic_partitions(str(model_partitions(protocol.name).name))
        keys = [{MODEL: model, "category": category} for model in models for category in categories]
        for step in (protocol.responses, protocol.scores):
            yield from _without_event(lake, instance, step.table, keys)


def _without_event(
    lake: Lake, instance: dg.DagsterInstance, table: LakeTable, wanted: list[Key]
) -> Iterator[tuple[LakeTable, str]]:
    seen = instance.get_materialized_partitions(dg.AssetKey(table.name))
    present = lake.keys(table)
    for key in wanted:
        partition = partition_key(key[MODEL], key["category"]) if MODEL in key else key["category"]
        if partition not in seen and key in present:
            yield table, partition
