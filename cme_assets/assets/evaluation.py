"""Replies and scores, by model and category: one pair of assets a protocol, all made here."""

from collections.abc import Callable

import dagster as dg

from cme_assets.freshness import Step, responses_note
from cme_assets.partitions import CATEGORY, GROUP, MODEL
from cme_assets.protocols.protocol import Protocol
from cme_assets.stages.judging import make_scores
from resources.conditions import ask_once, follow_replies
from resources.found_models import registry_of
from resources.materializing import Context, InLake, InSettings, InWorkers, Progress, logged, store


def evaluation_assets(protocol: Protocol, partitions: dg.MultiPartitionsDefinition) -> list[dg.AssetsDefinition]:
    """The protocol's replies and scores over models by categories."""

    @_asset(protocol.responses, partitions, protocol.name, ask_once())
    def responses(
        context: Context,
        lake: InLake,
        workers: InWorkers,
        settings: InSettings,
    ) -> None:
        registry = registry_of(settings)
        keys = _keys(context)
        asked = [(registry[model], category) for _, model, category in keys]
        progress = Progress(context, len(keys))
        with logged(context, "cme_assets.protocols"):
            for index, made in protocol.answer(lake, workers, settings, asked):
                (partition, model, category), (entry, _) = keys[index], asked[index]
                identity, statuses = protocol.entrant_hash(entry, settings), made.rows.column("status").to_pylist()
                note = responses_note(identity, entry.repeats, statuses, entry.resolutions)
                store(context, lake, protocol.responses, partition, {MODEL: model, CATEGORY: category}, made, **note)
                progress.finished(f"{model} on {category}")

    @_asset(protocol.scores, partitions, protocol.name, follow_replies(protocol.responses.table.name))
    def scores(context: Context, lake: InLake) -> None:
        keys = _keys(context)
        progress = Progress(context, len(keys))
        for partition, model, category in keys:
            made = make_scores(lake, protocol.responses.table, protocol.scores.table, model, category)
            store(context, lake, protocol.scores, partition, {MODEL: model, CATEGORY: category}, made)
            progress.finished(f"{model} on {category}")

    return [responses, scores]


def _asset(
    step: Step, partitions: dg.PartitionsDefinition, protocol: str, condition: dg.AutomationCondition
) -> Callable[[Callable[..., None]], dg.AssetsDefinition]:
    return dg.asset(
        name=step.table.name,
        deps=[table.name for table in step.inputs],
        description=step.table.description,
        group_name=GROUP,
        kinds={"python", "parquet"},
        tags={"protocol": protocol},
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run(),
        code_version=step.code_version,
        automation_condition=condition,
    )


def _keys(context: Context) -> list[tuple[str, str, str]]:
    """The run's partitions with their model and category."""
    keys = [key for key in context.partition_keys if isinstance(key, dg.MultiPartitionKey)]
    return [(key, key.keys_by_dimension[MODEL], key.keys_by_dimension[CATEGORY]) for key in keys]
