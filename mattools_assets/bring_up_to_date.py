"""Carry out a plan of the knowledge side through Dagster, stage after stage, since each decides what the next lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import dagster as dg

from mattools_assets.automation import missing_partitions
from mattools_assets.definitions import build_defs
from mattools_assets.entrants import DOCS, QA, QUESTIONS
from mattools_assets.partitions import model_partitions
from mattools_assets.planning import (
    stale_answers,
    stale_base,
    stale_documents,
    stale_questions,
    together,
)
from resources.lake import Lake
from resources.model_entry import ModelEntry
from resources.ranges import RANGE_END, RANGE_START, contiguous
from resources.settings import Settings

STAGES = ((DOCS, stale_documents), (QUESTIONS, stale_questions), (QA, stale_answers))
"""By the protocol whose models are the partitions."""


class Refused(Exception):
    """What stops a run, such as a source that cannot be had; the message is one line with the mend."""


@dataclass
class Done:
    """What was carried out, which checks did not pass, and what others point out."""

    runs: int = 0
    partitions: int = 0
    failed_checks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def bring_up_to_date(
    settings: Settings,
    entries: Sequence[ModelEntry],
    instance: dg.DagsterInstance,
    definitions: dg.Definitions | None = None,
) -> Done:
    """Make whatever is missing or no longer good. Raises Refused, SourceError, PublishedError and LakeError."""
    lake, done = Lake(settings.lake), Done()
    job = (definitions or build_defs(settings)).resolve_implicit_global_asset_job_def()
    if base := stale_base(lake, settings):
        _execute(job, instance, base, {}, done)
    for protocol, stale in STAGES:
        partitions = str(model_partitions(protocol).name)
        instance.add_dynamic_partitions(partitions, missing_partitions(instance, protocol, entries))
        order = instance.get_dynamic_partitions(partitions)
        for assets, names in together(stale(lake, settings, entries)):
            for first, last in contiguous(order, names):
                _execute(job, instance, assets, {RANGE_START: first, RANGE_END: last}, done)
    return done


def _execute(
    job: dg.JobDefinition, instance: dg.DagsterInstance, assets: Iterable[str], tags: dict[str, str], done: Done
) -> None:
    try:
        result = job.execute_in_process(
            instance=instance,
            asset_selection=[dg.AssetKey(asset) for asset in assets],
            tags=tags,
            run_config={"loggers": {"console": {}}},
        )
    except dg.Failure as failure:
        raise Refused(failure.description or "a run failed; see it in `make ui`") from None
    done.runs += 1
    done.partitions += sum(event.is_step_materialization for event in result.all_events)
    for check in result.get_asset_check_evaluations():
        if not check.passed:
            warns = check.severity is dg.AssetCheckSeverity.WARN
            (done.warnings if warns else done.failed_checks).append(_in_a_line(check))


def _in_a_line(check: dg.AssetCheckEvaluation) -> str:
    first, *others = (check.description or "").splitlines() or [""]
    more = f" (and {len(others)} more; see the check in `make ui`)" if others else ""
    return f"{check.asset_key.to_user_string()}: {check.check_name}: {first}{more}"
