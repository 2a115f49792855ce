"""Carry out a plan through Dagster: data, then replies and scores, a run for each unbroken range of partitions."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from cme_assets.automation import missing_models
from cme_assets.definitions import build_defs
from cme_assets.kept_files import report_kept_files
from cme_assets.partitions import model_partitions, partition_key, selected_categories
from cme_assets.planning import data_runs, evaluation_plan, refuse_unknown_categories, stale_data
from cme_assets.protocols import PROTOCOLS
from cme_assets.protocols.protocol import ProtocolError
from resources.carrying_out import Done, carry_out
from resources.lake import Lake
from resources.ranges import RANGE_END, RANGE_START
from resources.registry import ModelEntry
from resources.settings import Settings


def bring_up_to_date(
    settings: Settings,
    entries: Sequence[ModelEntry],
    instance: dg.DagsterInstance,
    definitions: dg.Definitions | None = None,
) -> Done:
    """Make whatever is missing or no longer good. Raises the errors of the data assets, each one line.

    What keeps one protocol from being asked, such as a missing sandbox, stops neither the others nor the reports.
    """
    lake, categories, done = Lake(settings.lake), selected_categories(settings), Done()
    refuse_unknown_categories(lake)
    job = (definitions or build_defs(settings)).resolve_implicit_global_asset_job_def()
    for data_run in data_runs(stale_data(lake, categories, settings.resolutions), categories):
        tags = {RANGE_START: data_run.first, RANGE_END: data_run.last}
        carry_out(job, instance, data_run.assets, done, tags=tags)
    for protocol in PROTOCOLS:
        partitions = str(model_partitions(protocol.name).name)
        instance.add_dynamic_partitions(partitions, missing_models(instance, protocol, entries))
        taking = [entry for entry in entries if protocol.takes(entry)]
        models = instance.get_dynamic_partitions(partitions)
        for run in evaluation_plan(lake, settings, protocol, taking, models, categories):
            try:
                tags = {RANGE_START: partition_key(*run.first), RANGE_END: partition_key(*run.last)}
                carry_out(job, instance, run.assets, done, tags=tags)
            except ProtocolError as error:
                done.refused.append(f"{protocol.name}, {run.first[0]}: {error}")
    report_kept_files(lake, instance, categories)
    return done
