"""When tool usage runs by itself in a running Dagster.

A new model in models.yaml with the protocol `tools`: the sensor adds its partition and starts one run for each live
system that it takes part in, once; new recorded runs and the reference likewise. Executions and scores follow their
inputs by conditions. What failed through no fault of the model's, the nightly schedule asks for again.
"""

from collections.abc import Iterator, Sequence

import dagster as dg

from mattools_assets.partitions import model_partitions, tool_key
from mattools_assets.tool_usage import freshness
from mattools_assets.tool_usage.entrants import PROTOCOL, Evaluation
from mattools_assets.tool_usage.evaluating import evaluations, identity_of
from mattools_assets.tool_usage.question_sets import all_tasks
from resources.found_models import registry_of
from resources.lake import Lake
from resources.registry import read_environment
from resources.settings import Settings

EVERY_NIGHT = "30 3 * * *"
SECONDS_BETWEEN_LOOKS = 60


def build_tool_automation(settings: Settings) -> dg.Definitions:
    """Sensor, schedule and job of tool usage."""
    chain = dg.AssetSelection.assets(*(step.table.name for step in freshness.EVALUATED))

    @dg.sensor(
        name="tool_usage_evaluations",
        description="Adds a partition for every model that can take part, and asks each of its systems once.",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        asset_selection=chain,
    )
    def tool_usage_evaluations(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        if Lake(settings.lake).stored(freshness.QUESTIONS.table, {}) is None:
            return dg.SensorResult(skip_reason="tool_questions are not materialized yet")
        found = runnable_evaluations(settings)
        missing = missing_models(context.instance, found)
        new = [evaluation for evaluation in found if evaluation.model in missing]
        return dg.SensorResult(
            dynamic_partitions_requests=[model_partitions(PROTOCOL).build_add_request(missing)] if missing else [],
            run_requests=[
                dg.RunRequest(
                    run_key=f"{evaluation.model}|{evaluation.system}",
                    asset_selection=[dg.AssetKey(step.table.name) for step in freshness.EVALUATED],
                    partition_key=tool_key(evaluation),
                )
                for evaluation in new
            ],
        )

    @dg.schedule(
        name="ask_for_missing_tool_answers",
        description="Asks for answers that are missing or failed through no fault of the model's, and scores them.",
        cron_schedule=EVERY_NIGHT,
        target=chain,
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def ask_for_missing(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        return list(missing_runs(context.instance, settings))

    rescore = dg.define_asset_job(
        "rescore_tool_usage",
        dg.AssetSelection.assets(freshness.SCORES.table.name),
        description="Verifies stored executions again and asks nobody.",
    )
    return dg.Definitions(sensors=[tool_usage_evaluations], schedules=[ask_for_missing], jobs=[rescore])


def runnable_evaluations(settings: Settings) -> list[Evaluation]:
    """All evaluations that can run: keyless ones, and those of enabled models with a key. Raises ToolUsageError."""
    entries = registry_of(settings).runnable(read_environment(settings.models_file))
    return evaluations(settings, entries)


def missing_models(instance: dg.DagsterInstance, found: Sequence[Evaluation]) -> list[str]:
    """Models of evaluations that are no partition yet."""
    present = set(instance.get_dynamic_partitions(str(model_partitions(PROTOCOL).name)))
    return sorted({evaluation.model for evaluation in found} - present)


def missing_runs(instance: dg.DagsterInstance, settings: Settings) -> Iterator[dg.RunRequest]:
    """A run for each known evaluation whose files are missing or no longer good, over the assets that are stale."""
    lake, tasks, registry = Lake(settings.lake), all_tasks(settings), registry_of(settings)
    if lake.stored(freshness.QUESTIONS.table, {}) is None:
        return
    found = runnable_evaluations(settings)
    unknown = set(missing_models(instance, found))
    known = [evaluation for evaluation in found if evaluation.model not in unknown]
    stale = freshness.stale_evaluations(lake, known, lambda each: identity_of(each, lake, settings, registry, tasks))
    for evaluation, assets in stale.items():
        yield dg.RunRequest(
            asset_selection=[dg.AssetKey(asset) for asset in assets], partition_key=tool_key(evaluation)
        )
