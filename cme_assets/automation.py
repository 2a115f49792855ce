"""When assets run by themselves in a running Dagster.

A new model in models.yaml, or in a provider's list that models.yaml watches: sensors give it an entry and partitions,
and `on_missing` asks it once. A new scorer: its raised code version scores all replies again and asks nobody. Replies
never run because something upstream was made again: that would pay twice for the same prompts. What failed, or came
before the daemon was there, the nightly schedule asks for.
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import dagster as dg

from cme_assets import schemas
from cme_assets.partitions import model_partitions, partition_key, selected_categories
from cme_assets.planning import evaluation_plan
from cme_assets.protocols import PROTOCOLS
from cme_assets.protocols.protocol import Protocol
from resources.found_models import registry_of
from resources.lake import Lake
from resources.llm.batch import collect
from resources.llm.ledger import Ledger
from resources.llm.watching import look
from resources.ranges import RANGE_END, RANGE_START
from resources.registry import ModelEntry, read_environment
from resources.settings import Settings

EVERY_NIGHT = "0 3 * * *"
SECONDS_BETWEEN_LOOKS = 60
SECONDS_BETWEEN_COLLECTIONS = 600
SECONDS_BETWEEN_LISTS = 6 * 3_600


def build_automation(settings: Settings) -> dg.Definitions:
    """Sensors, schedules and jobs of this location."""
    replies = [protocol.responses.table.name for protocol in PROTOCOLS]
    scores = [protocol.scores.table.name for protocol in PROTOCOLS]

    @dg.sensor(
        name="models_in_registry",
        description="Adds a partition for every model in models.yaml that can run. It starts nothing itself.",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        asset_selection=dg.AssetSelection.assets(*replies),
    )
    def models_in_registry(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        requests = []
        for protocol in PROTOCOLS:
            partitions = model_partitions(protocol.name)
            missing = missing_models(context.instance, protocol, runnable_models(settings))
            requests += [partitions.build_add_request(missing)] if missing else []
        return dg.SensorResult(dynamic_partitions_requests=requests)

    @dg.sensor(
        name="batches_at_providers",
        description="Collects the batches that have ended and scores what they brought.",
        minimum_interval_seconds=SECONDS_BETWEEN_COLLECTIONS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        asset_selection=dg.AssetSelection.assets(*replies, *scores),
    )
    def batches_at_providers(context: dg.SensorEvaluationContext) -> list[dg.RunRequest]:
        ended = models_with_ended_batches(settings)
        return list(missing_evaluations(context.instance, settings, ended)) if ended else []

    @dg.sensor(
        name="models_at_providers",
        description="Gives newly listed models an entry, where models.yaml watches a list. It starts nothing itself.",
        minimum_interval_seconds=SECONDS_BETWEEN_LISTS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        asset_selection=dg.AssetSelection.assets(*replies),
    )
    def models_at_providers(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        lines = look(settings, datetime.now(UTC).date())
        for line in lines:
            context.log.info(line)
        return dg.SkipReason("; ".join(lines) or "models.yaml watches no list")

    automation = dg.AutomationConditionSensorDefinition(
        "default_automation_condition_sensor",
        target=dg.AssetSelection.all(),
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    # A job, and what a schedule starts, has one set of partitions; each protocol has its own models.
    rescoring = [
        dg.define_asset_job(
            f"rescore_{protocol.name}",
            dg.AssetSelection.assets(protocol.scores.table.name),
            description="Scores existing replies again and asks nobody.",
        )
        for protocol in PROTOCOLS
    ]
    return dg.Definitions(
        sensors=[models_in_registry, models_at_providers, batches_at_providers, automation],
        schedules=[_nightly(protocol, settings) for protocol in PROTOCOLS],
        jobs=rescoring,
    )


def _nightly(protocol: Protocol, settings: Settings) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=f"ask_for_missing_{protocol.name}",
        description="Asks for replies that are missing or failed through no fault of the model's, and scores them.",
        cron_schedule=EVERY_NIGHT,
        target=dg.AssetSelection.assets(protocol.responses.table.name, protocol.scores.table.name),
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def ask_for_missing(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        return list(missing_evaluations(context.instance, settings, protocols=[protocol]))

    return ask_for_missing


def runnable_models(settings: Settings) -> tuple[ModelEntry, ...]:
    """The entries of models.yaml that are enabled and have their key. Raises RegistryError."""
    return registry_of(settings).runnable(read_environment(settings.models_file))


def models_with_ended_batches(settings: Settings) -> list[ModelEntry]:
    """Models of whose open batches at least one has ended; its replies are then in the ledger. Raises LedgerError."""
    keys = read_environment(settings.models_file)
    # A batch is paid for when it is handed in, so that it is collected whatever may be spent now.
    batched = [e for e in registry_of(settings).entries if e.batch and e.enabled and keys.get(e.key_env or "")]
    if not batched:
        return []
    with Ledger(settings.ledger_url) as ledger:
        waiting = [entry for entry in batched if ledger.open_batches(entry.endpoint, entry.model)]
        found = [(entry, asyncio.run(collect(entry, ledger, keys))) for entry in waiting]
    return [entry for entry, collected in found if collected.answers or collected.failures]


def missing_models(instance: dg.DagsterInstance, protocol: Protocol, entries: Sequence[ModelEntry]) -> list[str]:
    """Models that run under the protocol and are no partition yet."""
    present = set(instance.get_dynamic_partitions(str(model_partitions(protocol.name).name)))
    return [entry.name for entry in entries if protocol.takes(entry) and entry.name not in present]


def missing_evaluations(
    instance: dg.DagsterInstance,
    settings: Settings,
    entries: Sequence[ModelEntry] | None = None,
    protocols: Sequence[Protocol] | None = None,
) -> Iterator[dg.RunRequest]:
    """A run for each unbroken range of models and categories whose replies or scores are missing or no longer good.

    Of all models that can run, unless `entries` are given, under all protocols, unless `protocols` are.
    """
    lake = Lake(settings.lake)
    entries = runnable_models(settings) if entries is None else entries
    ready = [c for c in selected_categories(settings) if lake.stored(schemas.PROMPTS, {"category": c})]
    for protocol in PROTOCOLS if protocols is None else protocols:
        models = instance.get_dynamic_partitions(str(model_partitions(protocol.name).name))
        known = [entry for entry in entries if protocol.takes(entry) and entry.name in models]
        for run in evaluation_plan(lake, settings, protocol, known, models, ready):
            yield dg.RunRequest(
                asset_selection=[dg.AssetKey(asset) for asset in run.assets],
                tags={RANGE_START: partition_key(*run.first), RANGE_END: partition_key(*run.last)},
            )
