"""The knowledge side as Dagster sees it, and when it runs by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from mattools_assets import freshness
from mattools_assets.automation import NIGHTLY, missing_runs
from mattools_assets.definitions import build_defs
from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.qa.questions import QA_HANDWRITTEN
from mattools_assets.qa.scores import QA_ACCURACY, QA_ANSWERS, QA_SCORES
from mattools_assets.source.specification import DEFAULT
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, TOOL_SOURCE
from resources.lake import Lake, LakeTable
from resources.settings import Settings
from tests.mattools_assets.knowledge_graph import BASELINES, bring, knowledge_settings, model

QA_MODELS = "mattools_qa_models"
CHAIN = {
    "tool_source": set(),
    "code_objects": {"tool_source"},
    "references": {"tool_source"},
    "source_problems": {"tool_source"},
    "llm_docs": {"code_objects", "references"},
    "pymatgen_code": {"code_objects", "references"},
    "pymatgen_doc": {"code_objects", "references", "llm_docs"},
    "qa_code": {"pymatgen_code"},
    "qa_doc": {"pymatgen_doc"},
    "qa_handwritten": set(),
    "qa_published": set(),
    "qa_answers": {"qa_code", "qa_doc", "qa_handwritten", "qa_published"},
    "qa_scores": {"qa_answers", "qa_code", "qa_doc", "qa_handwritten", "qa_published"},
    "qa_accuracy": {"qa_answers", "qa_code", "qa_doc", "qa_handwritten", "qa_published"},
}


@pytest.fixture
def made(tmp_path: Path, instance: dg.DagsterInstance) -> Settings:
    """A finished run with the baselines."""
    settings = knowledge_settings(tmp_path)
    bring(settings, instance)
    return settings


def requested(result: dg.EvaluateAutomationConditionsResult, asset: str) -> set[str]:
    return set(result.get_requested_partitions(dg.AssetKey(asset)))


def test_the_chain_from_source_to_accuracy(tmp_path: Path) -> None:
    graph = build_defs(knowledge_settings(tmp_path)).resolve_asset_graph()
    nodes = {node.key.to_user_string(): node for node in graph.asset_nodes if node.group_name == "mattools_knowledge"}
    assert {name: {p.to_user_string() for p in node.parent_keys} for name, node in nodes.items()} == CHAIN
    assert all(node.code_version and node.description for node in nodes.values())


def test_every_job_of_the_location_resolves(tmp_path: Path) -> None:
    repository = build_defs(knowledge_settings(tmp_path)).get_repository_def()
    assert "rescore_qa" in {job.name for job in repository.get_all_jobs()}
    schedules = {schedule.name for schedule in repository.schedule_defs}
    assert {f"ask_for_missing_{protocol}" for protocol, *_ in NIGHTLY} <= schedules


def run_checks(settings: Settings, instance: dg.DagsterInstance) -> dict[tuple[str, str], dg.AssetCheckEvaluation]:
    job = dg.define_asset_job("checks", dg.AssetSelection.checks_for_assets(*CHAIN))
    own = dg.Definitions.merge(build_defs(settings), dg.Definitions(jobs=[job]))
    result = own.resolve_job_def("checks").execute_in_process(instance=instance)
    return {(e.asset_key.to_user_string(), e.check_name): e for e in result.get_asset_check_evaluations()}


def test_every_check_runs_on_a_finished_lake_and_holds(made: Settings, instance: dg.DagsterInstance) -> None:
    found = run_checks(made, instance)
    questions = ("qa_code", "qa_doc", "qa_published", "qa_handwritten")
    assert {key: each.passed for key, each in found.items()} == dict.fromkeys(
        [
            ("code_objects", "counts"),
            ("code_objects", "nothing_lost"),
            ("source_problems", "broken_files"),
            ("references", "callees_first"),
            ("llm_docs", "complete"),
            ("qa_accuracy", "within_range"),
            ("qa_scores", "position_control"),
            *((table, check) for table in questions for check in ("gates", "letters_balanced")),
            *((table, "mostly_kept") for table in ("qa_code", "qa_doc")),
        ],
        True,
    )


def test_checks_notice_what_is_wrong(made: Settings, instance: dg.DagsterInstance) -> None:
    lake = Lake(made.lake)

    def tamper(table: LakeTable, key: dict[str, str], **changes: object) -> None:
        rows = [{**row, **changes} for row in lake.read(table, key).to_pylist()]
        lake.write(table, key, table.rows(rows), {})

    tamper(TOOL_SOURCE, {}, specification=str(DEFAULT), file="lost.py")
    tamper(QA_HANDWRITTEN, {}, answer="C", question_id="same")
    tamper(CODE_OBJECTS, {}, level=0)
    tamper(REFERENCES, {}, target_id="nobody")
    tamper(QA_SCORES, {"model": "baseline-always-a"}, answer="B")
    tamper(QA_ACCURACY, {"model": "baseline-guess"}, n_answered=0)
    tamper(LLM_DOCS, {"doc_source": "signatures"}, state="failed", error="refused")
    failed = {key: each.description or "" for key, each in run_checks(made, instance).items() if not each.passed}
    assert "method: 0 instead of 5520" in failed["code_objects", "counts"]
    assert "lost.py: is no object" in failed["code_objects", "nothing_lost"]
    assert "refers to nobody" in failed["references", "callees_first"]
    assert "failed refused" in failed["llm_docs", "complete"]
    assert "a result without an answer" in failed["qa_accuracy", "within_range"]
    assert "answered A, marked the other way" in failed["qa_scores", "position_control"]
    assert "same is there 30 times" in failed["qa_handwritten", "gates"]
    assert "C 30" in failed["qa_handwritten", "letters_balanced"]


def test_a_new_model_is_asked_once(made: Settings, instance: dg.DagsterInstance) -> None:
    defs = build_defs(made)
    cursor = dg.evaluate_automation_conditions(defs, instance).cursor
    instance.add_dynamic_partitions(QA_MODELS, ["newcomer"])
    second = dg.evaluate_automation_conditions(defs, instance, cursor=cursor)
    assert requested(second, "qa_answers") == {"newcomer"}
    third = dg.evaluate_automation_conditions(defs, instance, cursor=second.cursor)
    assert requested(third, "qa_answers") == set()


def test_questions_made_again_ask_nobody(made: Settings, instance: dg.DagsterInstance) -> None:
    defs = build_defs(made)
    cursor = dg.evaluate_automation_conditions(defs, instance).cursor
    instance.report_runless_asset_event(dg.AssetMaterialization("qa_handwritten"))
    instance.report_runless_asset_event(dg.AssetMaterialization("code_objects"))
    result = dg.evaluate_automation_conditions(defs, instance, cursor=cursor)
    assert requested(result, "qa_answers") == set()
    assert requested(result, "llm_docs") == set()


def test_new_answers_and_a_new_scorer_are_marked_and_ask_nobody(
    made: Settings, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    defs = build_defs(made)
    cursor = dg.evaluate_automation_conditions(defs, instance).cursor
    instance.report_runless_asset_event(dg.AssetMaterialization("qa_answers", partition="baseline-guess"))
    second = dg.evaluate_automation_conditions(defs, instance, cursor=cursor)
    assert requested(second, "qa_scores") == requested(second, "qa_accuracy") == {"baseline-guess"}
    for name in ("SCORES", "ACCURACY"):
        monkeypatch.setattr(freshness, name, replace(getattr(freshness, name), code_version="next"))
    third = dg.evaluate_automation_conditions(build_defs(made), instance, cursor=cursor)
    assert requested(third, "qa_scores") == set(BASELINES)
    assert requested(third, "qa_answers") == set()


def test_the_sensor_adds_what_the_registry_has_and_starts_nothing(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    settings = knowledge_settings(tmp_path, model("http://127.0.0.1:9/v1"))
    context = dg.build_sensor_context(instance=instance, definitions=build_defs(settings))
    result = build_defs(settings).resolve_sensor_def("knowledge_models").evaluate_tick(context)
    assert result.run_requests == []
    requests = result.dynamic_partitions_requests or ()
    added = {request.partitions_def_name: list(request.partition_keys) for request in requests}
    assert added == {
        "mattools_docs_models": ["docstrings", "signatures", "scripted"],
        "mattools_questions_models": ["scripted"],
        QA_MODELS: [*BASELINES, "scripted"],
    }


def test_the_night_makes_what_is_missing_and_then_nothing(made: Settings, instance: dg.DagsterInstance) -> None:
    (protocol, stale, _, _) = NIGHTLY[-1]
    assert list(missing_runs(instance, made, protocol, stale)) == []
    Lake(made.lake).path(QA_ANSWERS, {"model": "baseline-always-a"}).unlink()
    (request,) = missing_runs(instance, made, protocol, stale)
    job = build_defs(made).resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(
        instance=instance, asset_selection=list(request.asset_selection or ()), tags=dict(request.tags)
    )
    made_now = {(e.asset_key.to_user_string(), e.partition) for e in result.get_asset_materialization_events()}
    assert made_now == {(name, "baseline-always-a") for name in ("qa_answers", "qa_scores", "qa_accuracy")}
    assert list(missing_runs(instance, made, protocol, stale)) == []
