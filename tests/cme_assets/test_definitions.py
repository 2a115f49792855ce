"""The graph as Dagster sees it, and when it runs by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from cme_assets import checks, definitions, schemas
from cme_assets.automation import missing_evaluations
from cme_assets.definitions import build_defs
from cme_assets.partitions import partition_key
from cme_assets.protocols import DIRECT, PROTOCOLS
from resources.registry import RegistryError
from resources.settings import Settings, read_settings
from tests.fast_graph import ENTRANTS, bring, fast_settings

RESPONSES, SCORES = dg.AssetKey("direct_responses"), dg.AssetKey("direct_scores")
CHAIN = {
    "problems": set(),
    "spectra": {"problems"},
    "noisy_spectra": {"problems", "spectra"},
    "prompts": {"problems", "noisy_spectra"},
    "direct_responses": {"prompts"},
    "direct_scores": {"problems", "noisy_spectra", "direct_responses"},
    "code_runs": {"prompts"},
    "code_scores": {"problems", "noisy_spectra", "code_runs"},
    "react_runs": {"prompts"},
    "react_scores": {"problems", "noisy_spectra", "react_runs"},
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return fast_settings(tmp_path)


def test_the_chain_from_problems_to_scores(settings: Settings) -> None:
    graph = build_defs(settings).resolve_asset_graph()
    found = {node.key.to_user_string(): {p.to_user_string() for p in node.parent_keys} for node in graph.asset_nodes}
    assert found.pop("cost_estimate") == {"prompts"}
    assert found == CHAIN
    assert all(node.code_version and node.description for node in graph.asset_nodes)
    assert {table.name for table in schemas.ALL} == set(CHAIN)


@pytest.mark.parametrize(("profile", "count"), [("full", 38), ("fast", 2)])
def test_partitions_follow_the_profile(tmp_path: Path, profile: str, count: int) -> None:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path), "CONDMAT_PROFILE": profile})
    graph = build_defs(settings).resolve_asset_graph()
    partitions = graph.get(dg.AssetKey("problems")).partitions_def
    assert partitions is not None
    assert len(partitions.get_partition_keys()) == count


def test_every_check_runs_on_a_finished_lake_and_holds(made: Settings, instance: dg.DagsterInstance) -> None:
    result = run_checks(made, instance)
    found = {(e.asset_key.to_user_string(), e.check_name): e.passed for e in result.get_asset_check_evaluations()}
    assert found == dict.fromkeys(
        [
            ("problems", "counts"),
            ("spectra", "identities"),
            ("noisy_spectra", "noise"),
            ("prompts", "round_trip"),
            ("direct_scores", "within_range"),
            ("code_scores", "within_range"),
            ("react_scores", "within_range"),
            ("direct_scores", "leakage"),
        ],
        True,
    )


def test_checks_notice_a_missing_category_and_a_leak(
    made: Settings, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made.lake / "problems/category=B1/data.parquet").unlink()
    full = replace(made, profile="full")
    monkeypatch.setattr(checks, "LEAKAGE_LIMIT", 0.01)
    failed = {
        e.check_name: e.description for e in run_checks(full, instance).get_asset_check_evaluations() if not e.passed
    }
    assert "categories: 1 instead of 38" in (failed["counts"] or "")
    assert "argmax at 50 scores 0." in (failed["leakage"] or "")


def run_checks(settings: Settings, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = dg.define_asset_job("checks", dg.AssetSelection.all_asset_checks())
    own = dg.Definitions.merge(build_defs(settings), dg.Definitions(jobs=[job]))
    return own.resolve_job_def("checks").execute_in_process(instance=instance)


# --- automation -----------------------------------------------------------------------------------------------------


@pytest.fixture
def ticking(made: Settings, instance: dg.DagsterInstance) -> tuple[Settings, dg.DagsterInstance]:
    """A Dagster that has seen everything made."""
    instance.add_dynamic_partitions("direct_models", list(ENTRANTS))
    for asset, keys in (("prompts", ("A1", "B1")), ("problems", ("A1", "B1")), ("noisy_spectra", ("A1", "B1"))):
        for key in keys:
            instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=key))
    for model in ENTRANTS:
        for category in ("A1", "B1"):
            for asset in ("direct_responses", "direct_scores"):
                report(instance, asset, model, category)
    return made, instance


def report(instance: dg.DagsterInstance, asset: str, model: str, category: str) -> None:
    key = partition_key(model, category)
    tags = {"dagster/code_version": "1"}
    instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=key, tags=tags))


def requested(result: dg.EvaluateAutomationConditionsResult, asset: dg.AssetKey) -> set[str]:
    return {str(key) for key in result.get_requested_partitions(asset)}


def test_nothing_is_requested_when_nothing_is_new(ticking: tuple[Settings, dg.DagsterInstance]) -> None:
    settings, instance = ticking
    defs = build_defs(settings)
    first = dg.evaluate_automation_conditions(defs, instance)
    assert first.total_requested == 0
    assert dg.evaluate_automation_conditions(defs, instance, cursor=first.cursor).total_requested == 0


def test_a_new_model_is_asked_once_in_all_categories(ticking: tuple[Settings, dg.DagsterInstance]) -> None:
    settings, instance = ticking
    defs = build_defs(settings)
    cursor = dg.evaluate_automation_conditions(defs, instance).cursor
    instance.add_dynamic_partitions("direct_models", ["example-position"])
    new = {str(partition_key("example-position", category)) for category in ("A1", "B1")}
    second = dg.evaluate_automation_conditions(defs, instance, cursor=cursor)
    assert requested(second, RESPONSES) == new
    third = dg.evaluate_automation_conditions(defs, instance, cursor=second.cursor)
    assert requested(third, RESPONSES) == set()


def test_prompts_made_again_ask_nobody(ticking: tuple[Settings, dg.DagsterInstance]) -> None:
    settings, instance = ticking
    defs = build_defs(settings)
    cursor = dg.evaluate_automation_conditions(defs, instance).cursor
    instance.report_runless_asset_event(dg.AssetMaterialization("prompts", partition="A1"))
    assert requested(dg.evaluate_automation_conditions(defs, instance, cursor=cursor), RESPONSES) == set()


def test_new_replies_are_scored_once(ticking: tuple[Settings, dg.DagsterInstance]) -> None:
    settings, instance = ticking
    defs = build_defs(settings)
    cursor = dg.evaluate_automation_conditions(defs, instance).cursor
    report(instance, "direct_responses", "argmax", "A1")
    second = dg.evaluate_automation_conditions(defs, instance, cursor=cursor)
    assert requested(second, SCORES) == {str(partition_key("argmax", "A1"))}
    third = dg.evaluate_automation_conditions(defs, instance, cursor=second.cursor)
    assert requested(third, SCORES) == set()


def test_a_new_scorer_scores_exactly_what_there_is_and_asks_nobody(
    ticking: tuple[Settings, dg.DagsterInstance], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, instance = ticking
    cursor = dg.evaluate_automation_conditions(build_defs(settings), instance).cursor
    rescored = replace(DIRECT, scores=replace(DIRECT.scores, code_version="next"))
    monkeypatch.setattr(definitions, "PROTOCOLS", (rescored,))
    result = dg.evaluate_automation_conditions(build_defs(settings), instance, cursor=cursor)
    assert requested(result, SCORES) == {str(partition_key(m, c)) for m in ENTRANTS for c in ("A1", "B1")}
    assert requested(result, RESPONSES) == set()


def tick(settings: Settings, instance: dg.DagsterInstance) -> dg.SensorResult:
    """What the sensor of the registry asks for."""
    defs = build_defs(settings)
    context = dg.build_sensor_context(instance=instance, definitions=defs)
    return defs.resolve_sensor_def("models_in_registry").evaluate_tick(context)


def test_the_sensor_adds_what_the_registry_has_and_starts_nothing(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    first = tick(settings, instance)
    assert first.run_requests == []
    assert [list(request.partition_keys) for request in first.dynamic_partitions_requests or ()] == [list(ENTRANTS)]
    instance.add_dynamic_partitions("direct_models", list(ENTRANTS))
    assert not tick(settings, instance).dynamic_partitions_requests


def test_the_sensor_says_what_is_wrong_with_the_registry(settings: Settings, instance: dg.DagsterInstance) -> None:
    settings.models_file.write_text("models:\n  - {name: x, provider: reference}\n")
    with pytest.raises(RegistryError, match="field name: there is no such reference entrant"):
        tick(settings, instance)


def test_the_night_asks_for_what_is_missing_and_then_for_nothing(made: Settings, instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("direct_models", list(ENTRANTS))
    assert list(missing_evaluations(instance, made)) == []
    for asset in ("direct_responses", "direct_scores"):
        (made.lake / asset / "model=argmax/category=B1/data.parquet").unlink()
    (request,) = missing_evaluations(instance, made)
    job = build_defs(made).resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(
        instance=instance, asset_selection=list(request.asset_selection or ()), tags=dict(request.tags)
    )
    made_now = {(e.asset_key.to_user_string(), e.partition) for e in result.get_asset_materialization_events()}
    assert result.success
    assert len(made_now) == 2
    assert list(missing_evaluations(instance, made)) == []


def test_the_whole_chain_runs_from_an_empty_folder(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    done = bring(fast_settings(tmp_path, ("centre",)), instance)
    assert done.failed_checks == done.warnings == []
    statuses = {run.status for run in instance.get_runs()}
    assert statuses == {dg.DagsterRunStatus.SUCCESS}
    for record in instance.get_records_for_run(instance.get_runs()[0].run_id).records:
        assert len(record.event_log_entry.to_json()) < 100_000


def test_what_the_web_server_reads_can_be_made(tmp_path: Path) -> None:
    """Every job resolves, also those that sensors and schedules imply: one that does not hides the whole location."""
    repository = build_defs(fast_settings(tmp_path)).get_repository_def()
    names = {job.name for job in repository.get_all_jobs()}
    assert {f"rescore_{protocol.name}" for protocol in PROTOCOLS} <= names
    assert {schedule.name for schedule in repository.schedule_defs} == {
        f"ask_for_missing_{protocol.name}" for protocol in PROTOCOLS
    }
