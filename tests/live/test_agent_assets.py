"""Agents through the whole graph: runs, scores, what is kept, and what is run again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from cme_assets import schemas
from cme_assets.bring_up_to_date import bring_up_to_date
from cme_assets.definitions import build_defs
from cme_assets.protocols.agent_surroundings import ENVIRONMENT
from resources.carrying_out import Done
from resources.lake import Lake
from resources.registry import load_registry
from resources.sandbox import environments, selection
from resources.settings import Settings, read_settings
from tests.fast_graph import IN_THIS_PROCESS
from tests.servers.scripted import ScriptedServer, Turn, fenced, running

pytestmark = pytest.mark.live

ANSWER = fenced("import json\nsubmit([0.0] * json.load(open('map.json'))['wanted'])")
DONE = Turn("Done.")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of the fast profile, with a sandbox."""
    own = read_settings()
    if all(
        selection.problem_with(name, environments.environment(ENVIRONMENT), own) for name in ("docker", "bubblewrap")
    ):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no sandbox can be opened here")
    folder = tmp_path_factory.mktemp("agents")
    settings = replace(
        read_settings(
            {
                "CONDMAT_DATA": str(folder / "data"),
                "CONDMAT_PROFILE": "fast",
                "CONDMAT_MODELS": str(folder / "models.yaml"),
                "CONDMAT_SANDBOX": own.sandbox,
            }
        )
    )
    installed = environments.folder(environments.environment(ENVIRONMENT), own.data)
    if installed.exists():
        (settings.data / "environments").mkdir(parents=True)
        (settings.data / "environments" / installed.name).symlink_to(installed)
    return settings


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[ScriptedServer, str]]:
    scripted = ScriptedServer({"": [ANSWER, DONE]})
    with running(scripted) as address:
        yield scripted, address


def write_models(settings: Settings, address: str, **more: Any) -> None:
    entry = {
        "name": "agent",
        "provider": "openai_compatible",
        "model": "agent",
        "base_url": address,
        "free": True,
        "capabilities": {"tools": False},
        "protocols": ["code", "react"],
    }
    settings.models_file.write_text(yaml.safe_dump({"models": [{**entry, **more}]}))


def bring(settings: Settings) -> Done:
    entries = load_registry(settings.models_file).runnable({})
    with dg.DagsterInstance.ephemeral() as instance:
        return bring_up_to_date(settings, entries, instance, build_defs(settings, {"workers": IN_THIS_PROCESS}))


def rows(settings: Settings, table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Lake(settings.lake).read_all(table).to_pylist()
    return found


def test_agents_are_run_scored_and_kept(settings: Settings, server: tuple[ScriptedServer, str]) -> None:
    scripted, address = server
    write_models(settings, address, repeats=2)
    done = bring(settings)
    assert done.failed_checks == done.warnings == []
    for runs, scores, replies in (
        (schemas.CODE_RUNS, schemas.CODE_SCORES, 1),
        (schemas.REACT_RUNS, schemas.REACT_SCORES, 2),
    ):
        run_rows = rows(settings, runs)
        # Two categories of five levels, twice.
        assert len(run_rows) == len(rows(settings, scores)) == 20
        assert {row["status"] for row in run_rows} == {"ok"}
        assert {len(row["steps"]) for row in run_rows} == {replies + 1}
        assert {row["completion_tokens"] for row in run_rows} == {10 * replies}
        assert all(row["score"] is not None for row in rows(settings, scores))
    assert len(scripted.bodies) == 20 + 2 * 20
    assert bring(settings).runs == 0
    assert len(scripted.bodies) == 60


def test_one_that_cannot_be_asked_stops_no_other(settings: Settings, server: tuple[ScriptedServer, str]) -> None:
    write_models(settings, server[1], name="speaking", protocols=["code"])
    (speaking,) = yaml.safe_load(settings.models_file.read_text())["models"]
    mute = speaking | {"name": "mute", "base_url": "http://127.0.0.1:9", "probe": True}
    settings.models_file.write_text(yaml.safe_dump({"models": [mute, speaking]}))
    assert bring(settings).refused == []
    own = [row for row in rows(settings, schemas.CODE_RUNS) if row["model"] in ("mute", "speaking")]
    assert {(row["model"], row["status"]) for row in own} == {("mute", "provider_error"), ("speaking", "ok")}
    assert all(row["error"].startswith("mute: ") for row in own if row["model"] == "mute")
    scored = {row["model"]: row["score"] is None for row in rows(settings, schemas.CODE_SCORES)}
    assert (scored["mute"], scored["speaking"]) == (True, False)


def test_other_limits_are_another_variant_beside_the_first(
    settings: Settings, server: tuple[ScriptedServer, str]
) -> None:
    scripted, address = server
    write_models(settings, address, protocols=["react"], repeats=2)
    asked = len(scripted.bodies)
    limited = replace(settings, agent_limits=(("steps", 1.0),))
    bring(limited)
    by_variant = dict.fromkeys(("published", "steps 1"), 0)
    for row in rows(settings, schemas.REACT_SCORES):
        by_variant[row["variant"]] += 1
        assert (row["status"] == "step_limit") == (row["variant"] == "steps 1")
    assert by_variant == {"published": 20, "steps 1": 20}
    assert len(scripted.bodies) == asked + 20
    # What is lost from the lake comes back from the ledger, without a request.
    shutil.rmtree(settings.lake / "react_runs")
    bring(limited)
    assert len(scripted.bodies) == asked + 20
    assert len(rows(settings, schemas.REACT_RUNS)) == 20


def test_without_a_sandbox_there_is_one_line(
    tmp_path: Path, settings: Settings, server: tuple[ScriptedServer, str]
) -> None:
    _, address = server
    bare = replace(settings, data=tmp_path, sandbox="bubblewrap", models_file=tmp_path / "models.yaml")
    shutil.copytree(settings.lake, bare.lake, ignore=shutil.ignore_patterns("code_*", "react_*"))
    write_models(bare, address)
    refused = bring(bare).refused
    assert {line.split(",")[0] for line in refused} == {"code", "react"}
    for message in refused:
        assert "model-written code is not run without a sandbox" in message
        assert "make sandbox" in message
        assert "\n" not in message
    assert not (bare.lake / "code_runs").exists()
