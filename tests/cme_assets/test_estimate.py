"""What asking would cost, said before anybody is asked."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from cme_assets import estimate, schemas
from cme_assets.agent_estimate import LONGEST_REPORT_TOKENS, REPORT_TOKENS, Usual, usual_run
from cme_assets.definitions import build_defs
from cme_assets.estimate import estimates
from cme_assets.left_out import left_out
from cme_assets.protocols.agent_prompts import react_messages
from cme_assets.stages.prompting import stored_problem
from resources.agent_limits import AgentLimits
from resources.lake import Lake
from resources.llm.estimate import SHORTEST_CACHED_PROMPT
from resources.llm.tokens import prompt_tokens
from resources.model_entry import Capabilities, Parameters
from resources.registry import load_registry
from resources.settings import Settings
from tests.served_models import bring_served, prompts_only, write_models
from tests.servers.faulty import FaultyServer, running

PRICE = [{"since": "2020-01-01", "input": 10.0, "cached_input": 1.0, "output": 100.0}]


@pytest.fixture
def settings(made_once: Settings, tmp_path: Path) -> Settings:
    return prompts_only(made_once, tmp_path)


@pytest.fixture
def server() -> Iterator[tuple[FaultyServer, str]]:
    faulty = FaultyServer()
    with running(faulty) as address:
        yield faulty, f"{address}/v1"


def test_requests_tokens_and_dollars(
    settings: Settings, instance: dg.DagsterInstance, server: tuple[FaultyServer, str]
) -> None:
    write_models(settings, server[1], "model", prices=PRICE, repeats=3, capabilities={"cache": "automatic"})
    entries = load_registry(settings.models_file).entries
    ((found, assumed),) = estimates(settings, entries, 50)
    assert (found.requests, found.answered, found.completion_tokens, assumed) == (30, 0, 30 * 50, 50)
    # Long prompts are counted by samples, so to some per cent.
    once = sum(r["prompt_tokens"] for r in Lake(settings.lake).read_all(schemas.PROMPTS, ["prompt_tokens"]).to_pylist())
    assert found.prompt_tokens == pytest.approx(3 * once, rel=0.03)
    written = 30 * 50 * 100e-6
    assert found.usd == pytest.approx(3 * once * 10e-6 + written, rel=0.03)
    assert found.usd_cached == pytest.approx(once * (10 + 2 * 1) * 1e-6 + written, rel=0.03)
    assert found.usd_batch is None
    assert server[0].log.asked == []

    job = build_defs(settings).resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("cost_estimate")])
    (event,) = result.get_asset_materialization_events()
    metadata = event.step_materialization_data.materialization.metadata
    assert metadata["requests"].value == 30
    assert "| model | 30 | 0 | " in str(metadata["estimate"].value)
    assert server[0].log.asked == []

    bring_served(settings, instance)
    ((found, assumed),) = estimates(settings, entries)
    assert (found.requests, found.usd, assumed) == (0, 0.0, 20)
    assert len(server[0].log.asked) == 30


def test_what_agents_would_ask(settings: Settings) -> None:
    parameters, limits = {"max_output_tokens": 1_000}, AgentLimits()
    write_models(settings, "http://127.0.0.1:9/v1", "model", prices=PRICE, protocols=["code", "react"], repeats=2)
    (entry,) = load_registry(settings.models_file).entries
    entry = entry.model_copy(update={"parameters": Parameters(**parameters), "capabilities": Capabilities()})
    (code, _), (react, _) = estimates(settings, (entry,), 100)
    problems = [stored_problem(row) for row in Lake(settings.lake).read_all(schemas.PROMPTS).to_pylist()]
    openings = [prompt_tokens({"messages": react_messages(problem, limits, True)}) for problem in problems] * 2
    assert (code.model, code.requests, react.model, react.requests) == ("model as code", 20, "model as react", 80)
    assert (code.completion_tokens, react.completion_tokens) == (20 * 100, 80 * 100)
    # Four replies are assumed; each request repeats the replies and reports before it.
    asked = [opening + step * (100 + REPORT_TOKENS) for opening in openings for step in range(4)]
    assert react.prompt_tokens == sum(asked)
    assert react.usd == pytest.approx((sum(asked) * 10 + 8_000 * 100) / 1e6)
    assert react.usd_cached == react.usd
    assert code.usd is not None
    assert code.usd_most == pytest.approx(code.usd + 20 * 900 * 100 / 1e6)
    # Ten replies of a thousand tokens, with the longest reports.
    longest = sum(o + step * (1_000 + LONGEST_REPORT_TOKENS) for o in openings for step in range(10))
    assert react.usd_most == pytest.approx((longest * 10 + 20 * 10 * 1_000 * 100) / 1e6)
    cached = entry.model_copy(update={"capabilities": Capabilities(cache="automatic")})
    _, (found, _) = estimates(settings, (cached,), 100)
    assert min(openings) < SHORTEST_CACHED_PROMPT or found.usd_cached < found.usd  # type: ignore[operator]


def test_an_agents_runs_so_far_say_what_is_usual() -> None:
    def run(*tokens: int) -> dict[str, list[dict[str, int]]]:
        # The last step tries the last script and is no reply.
        return {"steps": [{"completion_tokens": count} for count in (*tokens, 0)]}

    usual = usual_run([run(100, 200, 300), run(400)], replies=4, tokens=9)
    assert (usual.replies, usual.tokens) == (2.0, 250.0)
    assert usual_run([], replies=4, tokens=9) == Usual(4, 9)


def test_the_command(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_models(settings, "http://127.0.0.1:9/v1", "one", "two", key_env="KEY_THAT_IS_NOT_SET", prices=PRICE)
    monkeypatch.setenv("CONDMAT_DATA", str(settings.data))
    monkeypatch.setenv("CONDMAT_MODELS", str(settings.models_file))
    monkeypatch.setattr(sys, "argv", ["estimate", "two"])
    assert estimate.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("two: 10 requests, about ")
    assert " prompt and 40,000 reply tokens, $" in lines[0]
    assert lines[0].endswith("; 4,000 tokens an answer assumed")
    assert re.fullmatch(r"in all \$\d+\.\d\d, at most \$[\d,]+\.\d\d; nobody was asked", lines[1])
    assert len(lines) == 2
    monkeypatch.setattr(sys, "argv", ["estimate", "three"])
    assert estimate.main() == 1
    assert capsys.readouterr().err.endswith("there is no model 'three'; it has one, two\n")
    monkeypatch.setattr(sys, "argv", ["estimate"])
    monkeypatch.setenv("CONDMAT_DATA", str(tmp_path / "empty"))
    assert estimate.main() == 1
    assert "has no prompts yet; `make run` makes them" in capsys.readouterr().err


def test_who_is_left_out_is_said_in_a_line(settings: Settings) -> None:
    write_models(settings, "http://127.0.0.1:9/v1", "one", "two", key_env="KEY_THAT_IS_NOT_SET")
    registry = load_registry(settings.models_file)
    line = "not asked, because KEY_THAT_IS_NOT_SET is not set: one, two; put the key into .env or the environment"
    assert left_out(registry, {}, settings) == [line]
    key = {"KEY_THAT_IS_NOT_SET": "something"}
    assert left_out(registry, key | {"CONDMAT_BUDGET_DAY_USD": "5"}, settings) == []
    (line,) = left_out(registry, key, settings)
    assert line.startswith("not asked, because nothing may be spent: one, two; set CONDMAT_BUDGET_DAY_USD to the US")
    write_models(settings, "http://127.0.0.1:9/v1", "small", resolutions=[16])
    assert left_out(load_registry(settings.models_file), {}, settings) == [
        "not asked: small is for tables of 16 only; set RESOLUTIONS=16"
    ]
