"""Questions on tool usage drafted from a library's unit tests, their proof and their review."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg

from mattools_assets.partitions import model_partitions
from mattools_assets.tool_usage.question_sets import ToolUsageError
from mattools_assets.tool_usage.runs import kept_runs
from mattools_assets.triplets.review import ReviewError, read_reviews
from mattools_assets.triplets.stages import ask_for_drafts, make_drafts, make_triplets, review_folder
from mattools_assets.triplets.tables import TRIPLET_DRAFTS, TRIPLETS, UNIT_TESTS, make_unit_tests
from mattools_assets.triplets.unit_tests import Suite, UnitTest
from resources.found_models import registry_of
from resources.freshness import Step
from resources.llm.capabilities import UnfitEntry
from resources.llm.database import LedgerError
from resources.llm.probing import ProbeFailed
from resources.materializing import Context, InLake, InSettings, counting, logged, store
from resources.registry import read_environment
from resources.sandbox.pool import SandboxUnavailable
from resources.settings import Settings

GROUP = "mattools_triplets"
PROTOCOL = "triplets"
"""The protocol of models.yaml under which a model drafts."""
NO_SUITE = "CONDMAT_TEST_SUITE is not set: no unit tests; name the folder of a test suite"
TESTS, DRAFTS, REVIEWED = Step(UNIT_TESTS, (), "1"), Step(TRIPLET_DRAFTS, (UNIT_TESTS,), "1"), Step(TRIPLETS, (), "1")


def triplets_defs(_settings: Settings) -> dg.Definitions:
    """The assets of this part. None runs by itself: drafting costs money, and review is a person's."""
    return dg.Definitions(assets=[_unit_tests(), _drafts(), _triplets()])


def _unit_tests() -> dg.AssetsDefinition:
    @_asset(TESTS, [])
    def unit_tests(context: Context, lake: InLake, settings: InSettings) -> None:
        if settings.test_suite is None:
            context.log.warning(NO_SUITE)
            lake.write(UNIT_TESTS, {}, UNIT_TESTS.rows([]), {})
            return
        store(context, lake, TESTS, None, {}, make_unit_tests(Suite(settings.test_suite)))

    return unit_tests


def _drafts() -> dg.AssetsDefinition:
    @_asset(DRAFTS, [UNIT_TESTS.name], model_partitions(PROTOCOL))
    def triplet_drafts(context: Context, lake: InLake, settings: InSettings) -> None:
        suite, tests = _suite(settings)
        registry, keys = registry_of(settings), read_environment(settings.models_file)
        for model in context.partition_keys:
            entry = registry[model]
            if off := entry.why_off(keys):
                raise ToolUsageError(off)
            try:
                with logged(context, "mattools_assets.triplets"):
                    drafts = ask_for_drafts(settings, entry, tests, _told(context, f"{model} asked"))
                made = make_drafts(settings, model, drafts, suite, _told(context, f"drafts of {model} proved"))
            except (LedgerError, ProbeFailed, SandboxUnavailable, ReviewError, UnfitEntry) as error:
                raise ToolUsageError(f"{TRIPLET_DRAFTS.name}, {model}: {error}") from None
            store(context, lake, DRAFTS, model, {"model": model}, made)

    return triplet_drafts


def _triplets() -> dg.AssetsDefinition:
    @_asset(REVIEWED, [UNIT_TESTS.name, TRIPLET_DRAFTS.name])
    def triplets(context: Context, lake: InLake, settings: InSettings) -> None:
        suite, tests = _suite(settings)
        hashes = {(test.file, test.name): test.hash for test in tests}
        try:
            with kept_runs(settings) as runs:
                made = make_triplets(read_reviews(review_folder(settings)), hashes, suite, runs)
        except (SandboxUnavailable, ReviewError) as error:
            raise ToolUsageError(f"{TRIPLETS.name}: {error}") from None
        store(context, lake, REVIEWED, None, {}, made, version=str(made.remarks["version"]))

    return triplets


def _asset(
    step: Step, deps: list[str], partitions: dg.PartitionsDefinition | None = None
) -> Callable[[Callable[..., None]], dg.AssetsDefinition]:
    return dg.asset(
        name=step.table.name,
        deps=deps,
        description=step.table.description,
        group_name=GROUP,
        kinds={"python", "parquet"},
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run() if partitions else None,
        code_version=step.code_version,
    )


def _suite(settings: Settings) -> tuple[Path, list[UnitTest]]:
    """The suite's folder and its tests, doctests left out."""
    if settings.test_suite is None:
        raise ToolUsageError(NO_SUITE)
    return settings.test_suite, [test for test in Suite(settings.test_suite).tests() if test.kind == "test"]


def _told(context: Context, what: str) -> Callable[[int, int, str], None]:
    """Counts of a model's drafts in the run's log."""
    return counting(context, f"{context.asset_key.to_user_string()}, {what}")
