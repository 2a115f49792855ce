"""How well a model uses a library: functions it writes, their executions and verdicts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dagster as dg

from mattools_assets.partitions import MODEL, SYSTEM, tool_partitions
from mattools_assets.tool_automation import build_tool_automation
from mattools_assets.tool_usage import freshness
from mattools_assets.tool_usage.entrants import Evaluation
from mattools_assets.tool_usage.evaluating import answers_of, identity_of
from mattools_assets.tool_usage.executions import Counted, make_executions
from mattools_assets.tool_usage.question_sets import ToolUsageError, all_tasks
from mattools_assets.tool_usage.runs import kept_runs, packages
from mattools_assets.tool_usage.scores import broken_references, make_scores
from mattools_assets.triplets.tables import TRIPLETS
from resources.conditions import follow_replies
from resources.found_models import registry_of
from resources.freshness import Step
from resources.materializing import Context, InLake, InSettings, counting, logged, store
from resources.sandbox.kept import KeptRuns
from resources.sandbox.pool import SandboxUnavailable
from resources.settings import Settings

GROUP = "mattools_tool_usage"


def tool_usage_defs(settings: Settings) -> dg.Definitions:
    """The assets, checks and automation of this part."""
    assets = [_questions(), *_evaluated()]
    return dg.Definitions.merge(
        dg.Definitions(assets=assets, asset_checks=[_reference_check()]), build_tool_automation(settings)
    )


def _questions() -> dg.AssetsDefinition:
    step = freshness.QUESTIONS

    @dg.asset(
        name=step.table.name,
        deps=[TRIPLETS.name],
        description=step.table.description,
        group_name=GROUP,
        kinds={"python", "parquet"},
        code_version=step.code_version,
    )
    def tool_questions(context: Context, lake: InLake, settings: InSettings) -> None:
        store(context, lake, step, None, {}, freshness.make_questions(all_tasks(settings)))

    return tool_questions


def _evaluated() -> list[dg.AssetsDefinition]:
    @_asset(freshness.ANSWERS, None)
    def tool_answers(context: Context, lake: InLake, settings: InSettings) -> None:
        tasks, registry = all_tasks(settings), registry_of(settings)
        refused = []
        for partition, evaluation in _evaluations(context):
            try:
                with logged(context, "mattools_assets.tool_usage"):
                    made = answers_of(evaluation, lake, settings, registry, tasks, _told(context, evaluation))
            except ToolUsageError as error:
                refused.append(str(error))  # the others do not depend on it
                continue
            identity = identity_of(evaluation, lake, settings, registry, tasks)
            note = freshness.answers_note(identity, made.rows.select(["status"]).to_pylist())
            store(context, lake, freshness.ANSWERS, partition, evaluation.key, made, **note)
        if refused:
            raise ToolUsageError("; ".join(refused))

    @_asset(freshness.EXECUTIONS, follow_replies(freshness.ANSWERS.table.name))
    def tool_executions(context: Context, lake: InLake, settings: InSettings) -> None:
        tasks = all_tasks(settings)
        with _sandbox(settings) as sandbox:
            for partition, evaluation in _evaluations(context):
                answers = lake.read(freshness.ANSWERS.table, evaluation.key).to_pylist()
                told = _told(context, evaluation)
                made = make_executions(sandbox, packages(), answers, tasks, sandbox.workers, told)
                note = freshness.executions_note(made.rows.select(["status"]).to_pylist())
                store(context, lake, freshness.EXECUTIONS, partition, evaluation.key, made, **note)

    @_asset(freshness.SCORES, follow_replies(freshness.EXECUTIONS.table.name))
    def tool_scores(context: Context, lake: InLake, settings: InSettings) -> None:
        tasks = all_tasks(settings)
        with _sandbox(settings) as sandbox:
            for partition, evaluation in _evaluations(context):
                answers = lake.read(freshness.ANSWERS.table, evaluation.key).to_pylist()
                executions = lake.read(freshness.EXECUTIONS.table, evaluation.key).to_pylist()
                made = make_scores(sandbox, answers, executions, tasks, sandbox.workers, _told(context, evaluation))
                note = freshness.scores_note(made.rows.select(["status"]).to_pylist())
                store(context, lake, freshness.SCORES, partition, evaluation.key, made, **note)

    return [tool_answers, tool_executions, tool_scores]


def _reference_check() -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=freshness.SCORES.table.name, description="Reference answers pass their own verification, corrected."
    )
    def references_pass(lake: InLake) -> dg.AssetCheckResult:
        broken = broken_references(lake)
        return dg.AssetCheckResult(passed=not broken, description="\n".join(broken[:20]) or "nothing found")

    return references_pass


def _asset(
    step: Step, condition: dg.AutomationCondition | None
) -> Callable[[Callable[..., None]], dg.AssetsDefinition]:
    return dg.asset(
        name=step.table.name,
        deps=[table.name for table in step.inputs],
        description=step.table.description,
        group_name=GROUP,
        kinds={"python", "parquet"},
        partitions_def=tool_partitions(),
        backfill_policy=dg.BackfillPolicy.single_run(),
        code_version=step.code_version,
        automation_condition=condition,
    )


@contextmanager
def _sandbox(settings: Settings) -> Iterator[KeptRuns]:
    """The sandbox; that there is none is one line."""
    try:
        with kept_runs(settings) as runs:
            yield runs
    except SandboxUnavailable as error:
        raise ToolUsageError(str(error)) from None


def _evaluations(context: Context) -> list[tuple[str, Evaluation]]:
    """The run's partitions with their model and system."""
    keys = [key for key in context.partition_keys if isinstance(key, dg.MultiPartitionKey)]
    return [(key, Evaluation(key.keys_by_dimension[MODEL], key.keys_by_dimension[SYSTEM])) for key in keys]


def _told(context: Context, evaluation: Evaluation) -> Counted:
    """Counts in the run's log."""
    return counting(context, f"{context.asset_key.to_user_string()}, {evaluation.model} under {evaluation.system}")
