"""Carry out a plan through Dagster: data, then replies and scores, a run for each unbroken range of partitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import dagster as dg

from cme_assets.automation import missing_models
from cme_assets.definitions import build_defs
from cme_assets.kept_files import report_kept_files
from cme_assets.partitions import model_partitions, partition_key, selected_categories
from cme_assets.planning import data_runs, evaluation_plan, refuse_unknown_categories, stale_data
from cme_assets.protocols import PROTOCOLS
from cme_assets.protocols.protocol import ProtocolError
from resources.lake import Lake
from resources.ranges import RANGE_END, RANGE_START
from resources.registry import ModelEntry
from resources.settings import Settings


@dataclass
class Done:
    """What was carried out, which checks did not pass, and what could not be asked and why."""

    runs: int = 0
    partitions: int = 0
    failed_checks: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


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
        _execute(job, instance, data_run.assets, data_run.first, data_run.last, done)
    for protocol in PROTOCOLS:
        partitions = str(model_partitions(protocol.name).name)
        instance.add_dynamic_partitions(partitions, missing_models(instance, protocol, entries))
        taking = [entry for entry in entries if protocol.takes(entry)]
        models = instance.get_dynamic_partitions(partitions)
        for run in evaluation_plan(lake, settings, protocol, taking, models, categories):
            try:
                _execute(job, instance, run.assets, partition_key(*run.first), partition_key(*run.last), done)
            except ProtocolError as error:
                done.refused.append(f"{protocol.name}, {run.first[0]}: {error}")
    report_kept_files(lake, instance, categories)
    return done


def _execute(
    job: dg.JobDefinition, instance: dg.DagsterInstance, assets: Iterable[str], first: str, last: str, done: Done
) -> None:
    result = job.execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey(asset) for asset in assets],
        tags={RANGE_START: first, RANGE_END: last},
        run_config={"loggers": {"console": {}}},
    )
    done.runs += 1
    done.partitions += sum(event.is_step_materialization for event in result.all_events)
    done.failed_checks += [
        f"{check.asset_key.to_user_string()}: {check.check_name}: {check.description}"
        for check in result.get_asset_check_evaluations()
        if not check.passed
    ]
