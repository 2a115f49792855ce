"""From a provider's list to an entry, partitions, runs and scores, without anybody's doing; over HTTP."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import yaml

from cme_assets import schemas
from cme_assets.automation import missing_evaluations
from cme_assets.definitions import build_defs
from resources.lake import Lake
from resources.settings import Settings
from tests.fast_graph import IN_THIS_PROCESS
from tests.served_models import prompts_only
from tests.servers import picky
from tests.servers.faulty import running
from tests.servers.picky import PickyServer, sends

KEY = "sk-not-for-the-eyes-of-strangers"


def tick(settings: Settings, instance: dg.DagsterInstance, sensor: str) -> dg.SensorResult:
    defs = build_defs(settings, {"workers": IN_THIS_PROCESS})
    context = dg.build_sensor_context(instance=instance, definitions=defs)
    return defs.resolve_sensor_def(sensor).evaluate_tick(context)


def said(settings: Settings, instance: dg.DagsterInstance) -> str:
    return str(tick(settings, instance, "models_at_providers").skip_message)


def test_a_newly_listed_model_is_asked_by_itself(
    made_once: Settings, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    settings = prompts_only(made_once, tmp_path)
    with (tmp_path / ".env").open("a") as file:
        file.write(f"SOME_KEY={KEY}\n")
    server = PickyServer((sends("temperature"), picky.OPENAI_TEMPERATURE), listed=[{"id": "gpt-5"}])
    with running(server) as address:
        template = {
            "name": "gpt-5",
            "provider": "openai",
            "model": "gpt-5",
            "base_url": f"{address}/v1",
            "key_env": "SOME_KEY",
            "enabled": False,
            "parameters": {"temperature": 0.7},
        }
        watch = {"like": "gpt-5", "pattern": "gpt-*", "ceiling_usd": 10}
        prices = {"input": 1, "output": 2}
        document = {"models": [template], "watch": [watch | {"assumed_prices": prices}]}
        settings.models_file.write_text(yaml.safe_dump(document))
        assert "1 of 1 match and count as known" in said(settings, instance)
        server.listed = [{"id": "gpt-5"}, {"id": "gpt-6"}]
        assert said(settings, instance).startswith("gpt-5, gpt-*: new: gpt-6; like gpt-5, up to $10 each")
        (adding,) = tick(settings, instance, "models_in_registry").dynamic_partitions_requests or ()
        assert list(adding.partition_keys) == ["gpt-6"]
        assert server.log.bodies == []

        defs = build_defs(settings, {"workers": IN_THIS_PROCESS})
        for asset in ("prompts", "problems", "noisy_spectra"):
            for category in ("A1", "B1"):
                instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=category))
        cursor = dg.evaluate_automation_conditions(defs, instance).cursor
        instance.add_dynamic_partitions("direct_models", ["gpt-6"])
        requested = dg.evaluate_automation_conditions(defs, instance, cursor=cursor)
        partitions = {str(key) for key in requested.get_requested_partitions(dg.AssetKey("direct_responses"))}
        assert partitions == {"A1|gpt-6", "B1|gpt-6"}
        # What Dagster's daemon starts then is the same as what this gives.
        job = defs.resolve_implicit_global_asset_job_def()
        for run in missing_evaluations(instance, settings):
            selection = list(run.asset_selection or ())
            assert job.execute_in_process(instance=instance, asset_selection=selection, tags=dict(run.tags)).success
        assert list(missing_evaluations(instance, settings)) == []
    # One refusal and one answer of the probe, and ten questions without what was refused.
    assert server.log.statuses == {400: 1, 200: 11}
    assert [sends("temperature")(body) for body in server.log.bodies] == [True] + [False] * 11
    rows = Lake(settings.lake).read_all(schemas.DIRECT_RESPONSES).to_pylist()
    assert {(row["model"], row["status"]) for row in rows} == {("gpt-6", "ok")}
    assert len(rows) == 10
    everything = b"".join(path.read_bytes() for path in settings.data.rglob("*") if path.is_file())
    assert KEY.encode() not in everything


def test_without_a_watch_the_sensor_says_so(made_once: Settings, instance: dg.DagsterInstance, tmp_path: Path) -> None:
    settings = prompts_only(made_once, tmp_path)
    settings.models_file.write_text("models:\n  - {name: argmax, provider: reference}\n")
    assert said(settings, instance) == "models.yaml watches no list"
