"""Carry out a plan of the knowledge side through Dagster, stage after stage, since each decides what the next lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from resources.carrying_out import Done, carry_out
from resources.lake import Lake
from resources.model_entry import ModelEntry
from resources.ranges import RANGE_END, RANGE_START, contiguous
from resources.settings import Settings

STAGES = ((DOCS, stale_documents), (QUESTIONS, stale_questions), (QA, stale_answers))
"""By the protocol whose models are the partitions."""


class Refused(Exception):
    """What stops a run, such as a source that cannot be had; the message is one line with the mend."""


def bring_up_to_date(
    settings: Settings,
    entries: Sequence[ModelEntry],
    instance: dg.DagsterInstance,
    definitions: dg.Definitions | None = None,
) -> Done:
    """Make whatever is missing or no longer good. Raises Refused, SourceError, PublishedError and LakeError.

    What keeps documents, questions or answers from being made is kept in `refused`, and the others go on.
    """
    lake, done = Lake(settings.lake), Done()
    job = (definitions or build_defs(settings)).resolve_implicit_global_asset_job_def()
    if base := stale_base(lake, settings):
        _carry_out(job, instance, base, {}, done)
    for protocol, stale in STAGES:
        partitions = str(model_partitions(protocol).name)
        instance.add_dynamic_partitions(partitions, missing_partitions(instance, protocol, entries))
        order = instance.get_dynamic_partitions(partitions)
        for assets, names in together(stale(lake, settings, entries)):
            for first, last in contiguous(order, names):
                try:
                    _carry_out(job, instance, assets, {RANGE_START: first, RANGE_END: last}, done)
                except Refused as error:
                    done.refused.append(f"{protocol} of {', '.join(names)}: {error}")
    return done


def _carry_out(
    job: dg.JobDefinition, instance: dg.DagsterInstance, assets: Iterable[str], tags: dict[str, str], done: Done
) -> None:
    try:
        carry_out(job, instance, assets, done, tags=tags)
    except dg.Failure as failure:
        raise Refused(failure.description or "a run failed; see it in `make ui`") from None
