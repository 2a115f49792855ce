"""Bring tool usage up to date through Dagster: what is good already is left alone."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from mattools_assets.definitions import build_defs
from mattools_assets.partitions import model_partitions, tool_key
from mattools_assets.source.tables import CODE_OBJECTS
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.systems.opening import Place, reason_off
from mattools_assets.systems.recall import RECALL, stale_recall
from mattools_assets.systems.sources import OFFICIAL_DOCS, SOURCES, why_missing
from mattools_assets.tool_automation import missing_models
from mattools_assets.tool_usage import freshness
from mattools_assets.tool_usage.entrants import PROTOCOL, Evaluation
from mattools_assets.tool_usage.evaluating import identity_of
from mattools_assets.tool_usage.question_sets import ToolUsageError, all_tasks
from resources.carrying_out import Done, carry_out
from resources.found_models import registry_of
from resources.lake import Lake, LakeError
from resources.retrieval.choice import EmbedderError
from resources.retrieval.embedders import EmbeddingFailed
from resources.settings import Settings


def bring_tools_up_to_date(
    settings: Settings,
    evaluations: Sequence[Evaluation],
    instance: dg.DagsterInstance,
    definitions: dg.Definitions | None = None,
) -> Done:
    """Make whatever of `evaluations` is missing or no longer good. Raises ToolUsageError for the questions alone.

    What keeps one evaluation from being made, such as a missing sandbox, is kept in `refused`.
    """
    lake, tasks, registry, done = (
        Lake(settings.lake),
        all_tasks(settings),
        registry_of(settings),
        Done(),
    )
    job = (definitions or build_defs(settings)).resolve_implicit_global_asset_job_def()
    if freshness.stale_questions(lake, tasks):
        carry_out(job, instance, [freshness.QUESTIONS.table.name], done)
    models = str(model_partitions(PROTOCOL).name)
    instance.add_dynamic_partitions(models, missing_models(instance, evaluations))
    place = Place(lake, settings, registry)
    evaluations = _split_off(place, evaluations, done)
    for asset, source in _stale_documents(place, evaluations, done):
        try:
            carry_out(job, instance, [asset], done, partition=source)
        except (EmbeddingFailed, LakeError) as error:
            done.refused.append(f"{asset} {source}: {error}")
    stale = freshness.stale_evaluations(
        lake, evaluations, lambda each: identity_of(each, lake, settings, registry, tasks)
    )
    for evaluation, assets in stale.items():
        try:
            carry_out(job, instance, assets, done, partition=tool_key(evaluation))
        except ToolUsageError as error:
            done.refused.append(f"{evaluation.model} under {evaluation.system}: {error}")
    return done


def _stale_documents(place: Place, evaluations: Sequence[Evaluation], done: Done) -> list[tuple[str, str]]:
    """(asset, source) of the documents to retrieve from that are to be made, each once.

    All that there are, so that recall is known before anyone is asked; those alone that live systems need when an
    embedder is paid for.
    """
    if place.lake.stored(CODE_OBJECTS, {}) is None:
        return []
    try:
        live = [SYSTEMS[each.system] for each in evaluations if each.system in SYSTEMS]
        names = {source for system in live for source in system.sources} if place.is_asked else set(SOURCES)
        missing = {source: why_missing(place.means, source) for source in names}
        there = [source for source in SOURCES if source in names and missing[source] is None]
        told = "\n".join(done.left_out)
        for source, line in missing.items():
            # That no folder of pages is set concerns only the systems that need one.
            if line and line not in told and (source != OFFICIAL_DOCS or place.means.official_docs is not None):
                done.left_out.append(line)
                told += line
        stale = place.stale(there)
        made = list(dict.fromkeys(source for _, source in stale))
        measured = stale_recall(place, [source for source in there if source not in made])
        return [*stale, *((RECALL.table.name, source) for source in made), *measured]
    except (EmbedderError, LakeError) as error:
        done.refused.append(str(error))
        return []


def _split_off(place: Place, evaluations: Sequence[Evaluation], done: Done) -> list[Evaluation]:
    """The evaluations whose systems can work here; a line for each reason why others cannot."""
    off: dict[str, list[str]] = {}
    for name in dict.fromkeys(each.system for each in evaluations if each.system in SYSTEMS):
        if reason := reason_off(SYSTEMS[name], place):
            off.setdefault(reason, []).append(name)
    done.left_out += [f"{', '.join(names)}: {reason}" for reason, names in off.items()]
    return [each for each in evaluations if not any(each.system in names for names in off.values())]
