"""What a running Dagster would start by itself for tool usage."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
import yaml

from mattools_assets.definitions import build_defs
from mattools_assets.partitions import model_partitions, tool_key
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.tool_automation import missing_runs
from mattools_assets.tool_usage.entrants import PROTOCOL, REFERENCE, Evaluation
from resources.settings import Settings, read_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    entry = {"name": "small", "provider": "openai_compatible", "model": "small", "base_url": "http://127.0.0.1:9/v1"}
    models = [
        entry | {"free": True, "protocols": ["tools"]},
        entry | {"name": "other", "free": True, "protocols": ["qa"]},
        entry | {"name": "keyless", "key_env": "NO_SUCH_KEY", "protocols": ["tools"]},
    ]
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    return read_settings({"CONDMAT_DATA": str(tmp_path), "CONDMAT_MODELS": str(tmp_path / "models.yaml")})


def looked(definitions: dg.Definitions, instance: dg.DagsterInstance) -> dg.SensorResult:
    context = dg.build_sensor_context(instance=instance, definitions=definitions)
    result = definitions.resolve_sensor_def("tool_usage_evaluations")(context)
    assert isinstance(result, dg.SensorResult)
    for request in result.dynamic_partitions_requests or ():
        assert isinstance(request, dg.AddDynamicPartitionsRequest)
        instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
    return result


def test_a_new_model_is_asked_once_under_every_system(settings: Settings) -> None:
    definitions = build_defs(settings)
    with dg.DagsterInstance.ephemeral() as instance:
        assert looked(definitions, instance).skip_reason is not None
        job = definitions.resolve_implicit_global_asset_job_def()
        assert job.execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("tool_questions")], run_config={"loggers": {"console": {}}}
        ).success
        result = looked(definitions, instance)
        keys = {request.partition_key for request in result.run_requests or ()}
        assert keys == {f"{REFERENCE}|{REFERENCE}", *(f"small|{system}" for system in SYSTEMS)}
        assert set(instance.get_dynamic_partitions(str(model_partitions(PROTOCOL).name))) == {REFERENCE, "small"}
        assert not looked(definitions, instance).run_requests
        # At night whatever is still missing is asked for, over all three assets.
        missing = list(missing_runs(instance, settings))
        assert {request.partition_key for request in missing} == keys
        assert {tuple(key.to_user_string() for key in request.asset_selection or ()) for request in missing} == {
            ("tool_answers", "tool_executions", "tool_scores")
        }


def test_a_new_scorer_rescores_and_asks_nobody(settings: Settings) -> None:
    definitions = build_defs(settings)
    job = definitions.resolve_job_def("rescore_tool_usage")
    assert {key.to_user_string() for key in job.asset_layer.selected_asset_keys} == {"tool_scores"}
    graph = definitions.resolve_asset_graph()
    # Answers cost money: no condition ever asks for them.
    assert graph.get(dg.AssetKey("tool_answers")).automation_condition is None
    assert graph.get(dg.AssetKey("tool_executions")).automation_condition is not None
    assert graph.get(dg.AssetKey("tool_scores")).automation_condition is not None


def test_executions_follow_answers_and_scores_follow_executions(settings: Settings) -> None:
    definitions, key = build_defs(settings), tool_key(Evaluation("small", "single"))
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(model_partitions(PROTOCOL).name), ["small"])

        def made(asset: str, partition: str | None = key) -> None:
            instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=partition))

        made("triplets", None)
        made("tool_questions", None)
        seen = dg.evaluate_automation_conditions(definitions, instance)

        def requested_after(*assets: str) -> dict[str, set[str | None]]:
            """What is requested once these were made, by asset."""
            nonlocal seen
            for asset in assets:
                made(asset, None if asset == "tool_questions" else key)
            seen = dg.evaluate_automation_conditions(definitions, instance, cursor=seen.cursor)
            names = ("tool_answers", "tool_executions", "tool_scores")
            found = {name: set(seen.get_requested_partitions(dg.AssetKey(name))) for name in names}
            return {name: partitions for name, partitions in found.items() if partitions}

        # One run makes both: scores wait for what is requested with them.
        assert requested_after("tool_answers") == {"tool_executions": {key}, "tool_scores": {key}}
        assert requested_after("tool_executions", "tool_scores") == {}
        assert requested_after("tool_executions") == {"tool_scores": {key}}
        # Questions that were made again ask for nothing.
        assert requested_after("tool_scores", "tool_questions") == {}
