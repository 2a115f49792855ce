"""Models behind a real HTTP server through the whole graph: what is asked, what is kept, and what is asked again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from cme_assets import bring_up_to_date as bringing
from cme_assets import definitions, schemas
from cme_assets.definitions import build_defs
from cme_assets.left_out import unanswered
from cme_assets.page.transcripts import write_transcripts
from cme_assets.protocols import PROTOCOLS, model_replies
from cme_assets.protocols.replies import remarks, reply_row
from cme_assets.tasks.catalogue import CATEGORIES
from resources.lake import Lake
from resources.llm.answer import Answer
from resources.llm.batched import WAITING, WAITS
from resources.llm.probing import fitted
from resources.llm.request import ChatRequest
from resources.llm.usage import Usage
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.registry import load_registry
from resources.settings import Settings
from tests.fast_graph import IN_THIS_PROCESS
from tests.served_models import bring_served, prompts_only, write_models
from tests.servers.batching import BatchServer
from tests.servers.faulty import FaultyServer, running
from tests.servers.scripted import ScriptedServer, Turn
from tests.servers.scripted import running as playing

KEY = "sk-not-for-the-eyes-of-strangers"
PRICE = [{"since": "2020-01-01", "input": 10.0, "cached_input": 1.0, "output": 100.0}]


@pytest.fixture
def server() -> Iterator[tuple[FaultyServer, str]]:
    faulty = FaultyServer()
    with running(faulty) as address:
        yield faulty, f"{address}/v1"


@pytest.fixture
def settings(made_once: Settings, tmp_path: Path) -> Settings:
    """Finished prompts of the fast profile; nobody has been asked."""
    return prompts_only(made_once, tmp_path)


def replies(settings: Settings) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = Lake(settings.lake).read_all(schemas.DIRECT_RESPONSES).to_pylist()
    return rows


def scores(settings: Settings) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = Lake(settings.lake).read_all(schemas.DIRECT_SCORES).to_pylist()
    return rows


def test_only_what_is_missing_is_asked(
    settings: Settings,
    instance: dg.DagsterInstance,
    server: tuple[FaultyServer, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log, address = server[0].log, server[1]
    prompts = {r["prompt"] for r in Lake(settings.lake).read_all(schemas.PROMPTS, ["prompt"]).to_pylist()}

    def asked() -> int:
        count = len(log.asked)
        log.asked.clear()
        return count

    write_models(settings, address, "org/first")
    done = bring_served(settings, instance)
    assert done.failed_checks == done.warnings == []
    assert {prompt for _, prompt in log.asked} == prompts
    assert asked() == 10
    assert bring_served(settings, instance).runs == 0
    assert asked() == 0

    write_models(settings, address, "org/first", "second")
    bring_served(settings, instance)
    assert {body["model"] for body in log.bodies[10:]} == {"second"}
    assert asked() == 10

    changed = replace(CATEGORIES["A1"], question="Give the Fermi energy, once more.")
    monkeypatch.setitem(CATEGORIES, "A1", changed)
    bring_served(settings, instance)
    assert all("once more" in prompt for _, prompt in log.asked)
    assert asked() == 2 * 5

    before = {(r["model"], r["problem_id"]): r["gamma"] for r in scores(settings)}
    monkeypatch.setitem(
        CATEGORIES, "B1", replace(CATEGORIES["B1"], gamma=lambda _: 0.05, version=CATEGORIES["B1"].version + 1)
    )
    bring_served(settings, instance)
    after = {(r["model"], r["problem_id"]): r["gamma"] for r in scores(settings)}
    assert {key for key in before if before[key] != after[key]} == {key for key in before if key[1].startswith("B1")}
    assert asked() == 0

    # What was paid for is in the ledger, also when the lake is lost.
    shutil.rmtree(settings.lake / "direct_responses")
    bring_served(settings, instance)
    assert len(replies(settings)) == 20
    assert asked() == 0


def test_a_new_scorer_asks_nobody(
    settings: Settings,
    instance: dg.DagsterInstance,
    server: tuple[FaultyServer, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_models(settings, server[1], "first")
    bring_served(settings, instance)
    asked = len(server[0].log.asked)
    rescored = tuple(replace(p, scores=replace(p.scores, code_version="next")) for p in PROTOCOLS)
    for module in (definitions, bringing):
        monkeypatch.setattr(module, "PROTOCOLS", rescored)
    done = bring_served(settings, instance)
    assert (done.runs, done.partitions) == (1, 2)
    assert len(server[0].log.asked) == asked


def test_what_the_provider_tells_is_kept(
    settings: Settings,
    instance: dg.DagsterInstance,
    server: tuple[FaultyServer, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    write_models(settings, server[1], "first", prices=PRICE, repeats=2)
    bring_served(settings, instance)
    rows = replies(settings)
    assert sorted({row["repeat"] for row in rows}) == [0, 1]
    assert len(rows) == len(server[0].log.asked) == len({row["request_hash"] for row in rows}) == 20
    for row in rows:
        assert row["status"] == "ok"
        assert row["reply"].startswith("answer to ")
        assert (row["prompt_tokens"], row["cached_tokens"], row["completion_tokens"]) == (100, 40, 20)
        # 60 tokens read anew, 40 from the cache, 20 written.
        assert row["cost_usd"] == pytest.approx((60 * 10 + 40 * 1 + 20 * 100) / 1e6)
        assert (row["served_model"], row["fingerprint"], row["finish"]) == ("served-model", "fp_1", "stop")
        assert row["attempts"] == 1
        assert row["latency_s"] > 0
        assert row["answered_at"].year >= 2026
    assert {row["status"] for row in scores(settings)} == {"unparseable"}
    assert {row["score"] for row in scores(settings)} == {0.0}
    lines = [record.getMessage() for record in caplog.records if record.name == "cme_assets.protocols.model_replies"]
    assert lines[-1].startswith("first: 20 / 20 done (0 from the ledger), 2000 + 400 tokens, $0.0528")


def test_good_answers_score(settings: Settings, instance: dg.DagsterInstance) -> None:
    truths = {
        row["problem_id"]: row["truth"]
        for row in Lake(settings.lake).read_all(schemas.PROBLEMS, ["problem_id", "draw", "truth"]).to_pylist()
        if row["draw"] == 3
    }
    knowing = ScriptedServer(
        {
            CATEGORIES["A1"].question: [Turn(f"It is <answer>{list(truths['A1-L0'])}</answer>")],
            "": [Turn("I would rather not say.")],
        }
    )
    with playing(knowing) as address:
        write_models(settings, address, "knowing", free=True)
        bring_served(settings, instance)
    found = {row["problem_id"]: row["score"] for row in scores(settings)}
    assert {found[f"A1-L{level}"] for level in range(5)} == {1.0}
    assert {found[f"B1-L{level}"] for level in range(5)} == {0.0}


def test_failures_of_the_provider_are_no_zeros_and_are_asked_again(
    settings: Settings,
    instance: dg.DagsterInstance,
    server: tuple[FaultyServer, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    question = CATEGORIES["A1"].question
    monkeypatch.setitem(CATEGORIES, "A1", replace(CATEGORIES["A1"], question=question + " [fault:bad_key*1]"))
    write_models(settings, server[1], "first", key_env="SOME_KEY", max_concurrency=1)
    bring_served(settings, instance)
    bad = [row for row in replies(settings) if row["status"] == "provider_error"]
    assert {row["category"] for row in bad} >= {"A1"}
    assert all(row["error"] and KEY not in row["error"] for row in bad)
    assert {row["score"] for row in scores(settings) if row["status"] == "provider_error"} == {None}
    for _ in range(6):  # each run is stopped by one more key that is not taken
        bring_served(settings, instance)
    assert {row["status"] for row in replies(settings)} == {"ok"}
    assert bring_served(settings, instance).runs == 0
    assert set(server[0].log.answered.values()) == {1}


def test_the_budget_stops_and_goes_on(
    settings: Settings, instance: dg.DagsterInstance, server: tuple[FaultyServer, str]
) -> None:
    write_models(settings, server[1], "first", prices=PRICE, parameters={"max_output_tokens": 100})
    bring_served(replace(settings, budget_run_usd=0.0), instance)
    assert server[0].log.asked == []
    rows = replies(settings)
    assert {row["status"] for row in rows} == {"budget_stopped"}
    assert {(row["cost_usd"], row["prompt_tokens"], row["completion_tokens"]) for row in rows} == {(0.0, 0, 0)}
    assert {row["score"] for row in scores(settings)} == {None}
    entries, none_left = load_registry(settings.models_file).entries, replace(settings, budget_run_usd=0.0)
    assert unanswered(Lake(settings.lake), entries, none_left) == [
        "not asked: first: 10 requests (budget); raise CONDMAT_BUDGET_RUN_USD and run again"
    ]
    bring_served(settings, instance)
    assert {row["status"] for row in replies(settings)} == {"ok"}
    assert unanswered(Lake(settings.lake), entries, settings) == []
    assert len(server[0].log.asked) == 10


def test_a_model_without_its_key_stops_no_other(
    settings: Settings, instance: dg.DagsterInstance, server: tuple[FaultyServer, str]
) -> None:
    """Asked for in the UI: `make run` leaves it out."""
    write_models(settings, server[1], "first", key_env="KEY_THAT_IS_NOT_SET")
    keyless = {"name": "second", "provider": "openai_compatible", "model": "second", "base_url": server[1]}
    document = yaml.safe_load(settings.models_file.read_text())
    settings.models_file.write_text(yaml.safe_dump({"models": [*document["models"], keyless]}))
    entries = load_registry(settings.models_file).entries
    bringing.bring_up_to_date(settings, entries, instance, build_defs(settings, {"workers": IN_THIS_PROCESS}))
    ended = {(row["model"], row["status"]) for row in replies(settings)}
    assert ended == {("first", "provider_error"), ("second", "ok")}
    assert {row["error"] for row in replies(settings) if row["model"] == "first"} == {
        "KEY_THAT_IS_NOT_SET is not set; put it into .env or the environment"
    }
    assert len(server[0].log.asked) == 10


def test_a_fault_of_whatever_kind_stops_no_other_model(
    settings: Settings,
    instance: dg.DagsterInstance,
    server: tuple[FaultyServer, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def breaking(entry: ModelEntry, *others: Any) -> ModelEntry:
        if entry.name == "first":
            raise RuntimeError("nobody foresaw\nthis")
        return await fitted(entry, *others)

    write_models(settings, server[1], "first", "second")
    with monkeypatch.context() as patched:
        patched.setattr(model_replies, "fitted", breaking)
        bring_served(settings, instance)
    ended = {(row["model"], row["status"], row["error"]) for row in replies(settings)}
    assert ended == {("first", "provider_error", "RuntimeError: nobody foresaw this"), ("second", "ok", None)}
    assert {(row["model"], row["score"]) for row in scores(settings)} == {("first", None), ("second", 0.0)}
    bring_served(settings, instance)
    assert {row["status"] for row in replies(settings)} == {"ok"}
    assert len(server[0].log.asked) == 20


def test_a_reply_that_cannot_be_stored_is_one_without_a_score(settings: Settings) -> None:
    entry = ModelEntry(name="first", provider="openai_compatible", model="m", base_url="http://127.0.0.1:9")
    partition = model_replies.partition_of(Lake(settings.lake), 0, entry, "A1", "identity")
    for place, (prompt, question) in enumerate(partition.questions()):
        finish: Any = {"no": "text"} if place == 2 else "stop"
        answer = Answer(ChatRequest([]), "hash", Status.OK, "words", finish=finish, attempts=1)
        partition.replies[question] = reply_row(prompt, "first", 0, "identity", model_replies._reply(prompt, answer))
    rows = partition.made().rows.to_pylist()
    assert [row["status"] for row in rows] == ["ok", "ok", "provider_error", "ok", "ok"]
    assert rows[2]["error"].startswith("the reply cannot be stored: ")
    assert [row["reply"] for row in rows] == ["words", "words", "", "words", "words"]


def test_what_the_provider_counted_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting a long reply takes its time."""
    counted: list[str] = []
    monkeypatch.setattr(model_replies, "count_tokens", lambda text: counted.append(text) or 7)
    reply = Answer(ChatRequest([]), "", Status.OK, "words", attempts=1)
    known = model_replies._reply({"prompt_tokens": 5}, replace(reply, usage=Usage(3, completion_tokens=2)))
    assert (known["prompt_tokens"], known["completion_tokens"], counted) == (3, 2, [])
    unknown = model_replies._reply({"prompt_tokens": 5}, reply)
    assert (unknown["prompt_tokens"], unknown["completion_tokens"], counted) == (5, 7, ["words"])


def test_a_refusal_stays_in_its_block_of_the_remarks() -> None:
    rows = [
        {
            **dict.fromkeys(("prompt_tokens", "completion_tokens", "latency_s", "cost_usd"), 0),
            "problem_id": "A1-L0",
            "status": "refused",
            "error": "no\r\n```\n![x](http://evil/beacon.png)\u2028\x1b[2J",
        }
    ]
    block = str(remarks(rows, 1)["failures"])
    assert block == "```\nA1-L0: no ``` ![x](http://evil/beacon.png) ⟨U+001B⟩[2J\n```"


def test_an_entry_is_asked_at_its_own_table_sizes_only(
    settings: Settings, instance: dg.DagsterInstance, server: tuple[FaultyServer, str]
) -> None:
    write_models(settings, server[1], "first", resolutions=[16])
    bring_served(settings, instance)
    assert (replies(settings), server[0].log.asked) == ([], [])
    bring_served(replace(settings, resolutions=(16,)), instance)
    assert {row["resolution"] for row in replies(settings)} == {16}
    assert len(server[0].log.asked) == 10
    write_models(settings, server[1], "first")
    bring_served(settings, instance)
    assert sorted({row["resolution"] for row in replies(settings)}) == [16, 50]
    assert len(server[0].log.asked) == 20


def test_a_batch_is_handed_in_once_and_collected_by_the_sensor(
    settings: Settings, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    server = BatchServer()
    with running(server) as address:
        batched = {"provider": "openai", "batch": True, "capabilities": {"batch": True}, "prices": PRICE}
        write_models(settings, f"{address}/v1", "first", key_env="SOME_KEY", **batched)
        for _ in range(2):
            bring_served(settings, instance)
            assert len(server.lines) == 10
            assert {(r["status"], r["error"]) for r in replies(settings)} == {("provider_error", WAITS)}
            assert {r["score"] for r in scores(settings)} == {None}
        defs = build_defs(settings, {"workers": IN_THIS_PROCESS})
        # Nobody calls that an error.
        assert unanswered(Lake(settings.lake), load_registry(settings.models_file).entries, settings) == [
            "first: 10 of 10 questions wait for their batch, within a day; run again then"
        ]
        noted = remarks(replies(settings), 10)
        assert (noted["waiting for a batch"], "failures" in noted) == (10, False)
        assert "provider_error" not in str(noted["endings"])
        write_transcripts(Lake(settings.lake), tmp_path)
        pages = "".join(page.read_text() for page in (tmp_path / "transcripts").rglob("*.html"))
        assert WAITING in pages
        assert "provider_error" not in pages
        sensor = defs.resolve_sensor_def("batches_at_providers")
        context = dg.build_sensor_context(instance=instance, definitions=defs)
        assert not sensor.evaluate_tick(context).run_requests
        server.finish()
        # It is paid for: that nothing more may be spent keeps nobody from collecting it.
        ceiling = tmp_path / ".env"
        ceiling.rename(tmp_path / "put-away")
        requests = sensor.evaluate_tick(context).run_requests or []
        assert len(requests) == 1
        (tmp_path / "put-away").rename(ceiling)
        job = defs.resolve_implicit_global_asset_job_def()
        for request in requests:
            selection = list(request.asset_selection or ())
            assert job.execute_in_process(instance=instance, asset_selection=selection, tags=dict(request.tags)).success
        assert {r["status"] for r in replies(settings)} == {"ok"}
        # As asked at once, but for half.
        half = pytest.approx((60 * 10 + 40 * 1 + 20 * 100) / 2e6)
        assert all(r["cost_usd"] == half for r in replies(settings))
        assert len(server.lines) == 10
        assert bring_served(settings, instance).runs == 0
        assert not sensor.evaluate_tick(context).run_requests
