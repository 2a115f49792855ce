"""When the knowledge side runs by itself in a running Dagster.

A new model in models.yaml: the sensor adds its partitions and the conditions ask it once. A new scorer: its raised code
version scores all answers again and asks nobody. A changed source or question set asks nobody by itself; what is
missing, failed or no longer good is asked for by the nightly schedules, one a stage, since each decides what the next
lacks.
"""

from collections.abc import Callable, Iterator, Sequence

import dagster as dg

from mattools_assets import freshness
from mattools_assets.entrants import DOCS, PROTOCOLS, QA, QUESTIONS, partition_names
from mattools_assets.partitions import model_partitions
from mattools_assets.planning import stale_answers, stale_documents, stale_questions, together
from resources.found_models import registry_of
from resources.lake import Lake
from resources.model_entry import ModelEntry
from resources.ranges import RANGE_END, RANGE_START, contiguous
from resources.registry import read_environment
from resources.settings import Settings

SECONDS_BETWEEN_LOOKS = 60
Stale = Callable[[Lake, Settings, Sequence[ModelEntry]], dict[str, list[str]]]

NIGHTLY: tuple[tuple[str, Stale, tuple[freshness.Step, ...], str], ...] = (
    (DOCS, stale_documents, (freshness.DOCUMENTS, freshness.DOCUMENT_PASSAGES), "0 2 * * *"),
    (QUESTIONS, stale_questions, (freshness.CODE_QUESTIONS, freshness.DOC_QUESTIONS), "0 3 * * *"),
    (QA, stale_answers, (freshness.ANSWERS, freshness.SCORES, freshness.ACCURACY), "0 4 * * *"),
)
"""Protocol, what is stale, the assets, and when: upstream first."""


def build_automation(settings: Settings) -> dg.Definitions:
    """Sensor, schedules and job of the knowledge side."""
    assets = [step.table.name for _, _, steps, _ in NIGHTLY for step in steps]

    @dg.sensor(
        name="knowledge_models",
        description="Adds a partition for every model in models.yaml that can run. It starts nothing itself.",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        asset_selection=dg.AssetSelection.assets(*assets),
    )
    def knowledge_models(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        requests = []
        for protocol in PROTOCOLS:
            missing = missing_partitions(context.instance, protocol, runnable_models(settings))
            requests += [model_partitions(protocol).build_add_request(missing)] if missing else []
        return dg.SensorResult(dynamic_partitions_requests=requests)

    rescore = dg.define_asset_job(
        "rescore_qa",
        dg.AssetSelection.assets(freshness.SCORES.table.name, freshness.ACCURACY.table.name),
        description="Scores existing answers again and asks nobody.",
    )
    return dg.Definitions(
        sensors=[knowledge_models],
        schedules=[_nightly(settings, *each) for each in NIGHTLY],
        jobs=[rescore],
    )


def _nightly(
    settings: Settings, protocol: str, stale: Stale, steps: Sequence[freshness.Step], when: str
) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=f"ask_for_missing_{protocol}",
        description="Makes what is missing, failed through no fault of a model's, or is no longer good.",
        cron_schedule=when,
        target=dg.AssetSelection.assets(*(step.table.name for step in steps)),
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def ask_for_missing(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        return list(missing_runs(context.instance, settings, protocol, stale))

    return ask_for_missing


def runnable_models(settings: Settings) -> tuple[ModelEntry, ...]:
    """The entries of models.yaml that are enabled and have their key. Raises RegistryError."""
    return registry_of(settings).runnable(read_environment(settings.models_file))


def missing_partitions(instance: dg.DagsterInstance, protocol: str, entries: Sequence[ModelEntry]) -> list[str]:
    """What should be a partition of the protocol and is none yet."""
    present = set(instance.get_dynamic_partitions(str(model_partitions(protocol).name)))
    return [name for name in partition_names(entries, protocol) if name not in present]


def missing_runs(
    instance: dg.DagsterInstance, settings: Settings, protocol: str, stale: Stale
) -> Iterator[dg.RunRequest]:
    """A run for each unbroken range of partitions that are there and not good, once the source is in the lake."""
    lake, order = Lake(settings.lake), instance.get_dynamic_partitions(str(model_partitions(protocol).name))
    if lake.stored(freshness.EDGES.table, {}) is None:
        return
    for assets, names in together(stale(lake, settings, runnable_models(settings))):
        for first, last in contiguous(order, names):
            yield dg.RunRequest(
                asset_selection=[dg.AssetKey(asset) for asset in assets], tags={RANGE_START: first, RANGE_END: last}
            )
