"""Whole runs against a real server: what is asked, in which order, how often, and what it may cost."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resources.llm.answer import Answer, Tally
from resources.llm.budget import Budget
from resources.llm.client import UNRECORDED, Client
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.retry import RetryPolicy
from resources.llm.run import ask_all, ask_all_now
from resources.model_entry import Capabilities, ModelEntry
from resources.outcomes import Status
from tests.servers.faulty import FaultyServer, running

from .conftest import ENVIRONMENT, KEY, QUICK


def questions(count: int, repeats: int = 1, suffix: str = "") -> list[ChatRequest]:
    return [
        ChatRequest([{"role": "user", "content": f"q{i} {suffix}"}], repeat=repeat)
        for i in range(count)
        for repeat in range(repeats)
    ]


async def ask(
    requests: list[ChatRequest], entry: ModelEntry, ledger: Ledger, budget: Budget | None = None
) -> list[Answer]:
    return [a async for a in ask_all(requests, entry, ledger, ENVIRONMENT, budget=budget, policy=QUICK)]


async def test_a_second_run_asks_nothing_and_gives_the_same(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = FaultyServer()
    with running(server) as address:
        entry = entry_for("openai", address)
        first = await ask(questions(40), entry, ledger)
        second = await ask(questions(40), entry, ledger)
        renamed = await ask(questions(40), entry.model_copy(update={"name": "other", "prices": ()}), ledger)
        assert len(server.log.asked) == 40
        warmer = entry.model_copy(update={"parameters": entry.parameters.model_copy(update={"temperature": 0.5})})
        await ask(questions(3), warmer, ledger)
        assert len(server.log.asked) == 43
    assert not any(answer.from_ledger for answer in first)
    assert all(answer.from_ledger for answer in second + renamed)

    def essence(answers: list[Answer]) -> set[object]:
        return {(a.hash, a.text, a.status, a.usage, a.cost_usd, a.latency, a.attempts, a.finish) for a in answers}

    assert essence(first) == essence(second) == essence(renamed)


async def test_doubles_in_one_run_are_asked_once(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = FaultyServer(latency=0.05)
    with running(server) as address:
        answers = await ask(questions(5) + questions(5), entry_for("openai", address), ledger)
    assert len(answers) == 10
    assert len(server.log.asked) == 5


@pytest.mark.usefixtures("short_pauses")
async def test_failures_are_asked_again_by_the_next_run_only(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = FaultyServer()
    with running(server) as address:
        entry = entry_for("openai", address)
        first = await ask(questions(2, suffix=f"[fault:server_error*{QUICK.errors}]"), entry, ledger)
        second = await ask(questions(2, suffix=f"[fault:server_error*{QUICK.errors}]"), entry, ledger)
    assert {answer.status for answer in first} == {Status.PROVIDER_ERROR}
    assert {(answer.status, answer.attempts) for answer in second} == {(Status.OK, 1 + QUICK.errors)}


@pytest.mark.parametrize(
    ("provider", "cache", "marked"),
    [
        ("anthropic", "cache_control", "cache_control"),
        ("openai", "automatic", "prompt_cache_key"),
        ("openai", "openai_explicit", "prompt_cache_key"),
    ],
)
async def test_repeats_wait_for_the_first_and_only_they_are_cached(
    provider: str, cache: str, marked: str, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = FaultyServer(latency=0.1)
    with running(server) as address:
        entry = entry_for(provider, address, capabilities=Capabilities(cache=cache))
        answers = await ask(questions(2, repeats=3) + questions(1, suffix="single"), entry, ledger)
    times: dict[str, list[float]] = {}
    for moment, prompt in server.log.asked:
        times.setdefault(prompt, []).append(moment)
    for prompt in ("q0 ", "q1 "):
        first, *rest = times[prompt]
        assert len(rest) == 2
        assert min(rest) - first >= 0.1
    for body in server.log.bodies:
        is_single = "single" in body["messages"][-1]["content"]
        assert (marked in body) == (not is_single)
        off = {"mode": "explicit"} if is_single and cache == "openai_explicit" else None
        assert body.get("prompt_cache_options") == off
    # A change of the cache's policy is no other question.
    assert {answer.status for answer in answers} == {Status.OK}
    with running(server) as address:
        count = len(server.log.asked)
        moved = entry.model_copy(update={"capabilities": Capabilities(cache="none")})
        assert all(answer.from_ledger for answer in await ask(questions(2, repeats=3), moved, ledger))
        assert len(server.log.asked) == count


async def test_a_ceiling_holds_and_a_higher_one_goes_on(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = FaultyServer()
    with running(server) as address:
        entry = entry_for("openai", address)
        # One answer costs 0.0003 dollars here and at most about 0.001 beforehand.
        first = await ask(questions(40), entry, ledger, Budget("first", run_usd=0.005))
        asked = len(server.log.asked)
        second = await ask(questions(40), entry, ledger, Budget("second"))
    stopped = [answer for answer in first if answer.status is Status.BUDGET_STOPPED]
    cost = sum(answer.cost_usd or 0.0 for answer in first)
    assert 0.003 < cost <= 0.005
    assert asked == 40 - len(stopped) > 10
    assert all(answer.error and not answer.status.is_scored for answer in stopped)
    assert {answer.status for answer in second} == {Status.OK}
    assert len(server.log.asked) == 40


async def test_a_model_has_a_ceiling_of_its_own(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    with running(FaultyServer()) as address:
        entry = entry_for("openai", address, ceiling_usd=0.005)
        for run in ("first", "second"):
            ended = await ask(questions(30), entry, ledger, Budget(run))
        other = entry_for("openai", address, model="another")
        free = await ask(questions(30), other, ledger, Budget("third"))
    stopped = [answer for answer in ended if answer.status is Status.BUDGET_STOPPED]
    # One answer costs 0.00034 dollars and could cost about 0.001: runs do not begin anew.
    assert 10 < len(ended) - len(stopped) <= 14
    assert all("run, day or model" in str(answer.error) for answer in stopped)
    assert {answer.status for answer in free} == {Status.OK}


async def test_without_a_price_a_ceiling_lets_nothing_through(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = FaultyServer()
    with running(server) as address:
        entry = entry_for("openai", address, prices=())
        answers = await ask(questions(3), entry, ledger, Budget("r", day_usd=5.0))
        free = entry.model_copy(update={"free": True})
        allowed = await ask(questions(3), free, ledger, Budget("r", day_usd=0.0))
    assert {answer.status for answer in answers} == {Status.BUDGET_STOPPED}
    assert all("no price in models.yaml" in str(answer.error) for answer in answers)
    assert {answer.status for answer in allowed} == {Status.OK}


async def test_forty_requests_a_second_are_kept_to(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = FaultyServer(latency=0.05, per_second=40)
    with running(server) as address:
        answers = await ask(questions(400), entry_for("openai", address, max_concurrency=64), ledger)
    assert {answer.status for answer in answers} == {Status.OK}
    moments = [moment for moment, _ in server.log.asked]
    assert max(moments) - min(moments) <= 1.3 * 400 / 40
    assert server.log.statuses[429] <= 0.05 * len(moments)


async def test_a_key_is_found_nowhere(
    tmp_path: Path, entry_for: Callable[..., ModelEntry], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server = FaultyServer()
    with running(server) as address, Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        for provider in ("openai", "anthropic"):
            entry = entry_for(provider, address, max_concurrency=1)
            answers = await ask(questions(2, suffix="[fault:echo_key]"), entry, ledger)
            answers += await ask(questions(2, suffix="[fault:bad_key]"), entry, ledger)
            bodies = [ledger.lookup([answer.hash]) for answer in answers]
            assert KEY not in repr(answers) + repr(bodies)
            assert "[key]" in answers[0].text
    assert any(KEY in str(headers) for headers in server.log.headers)
    # What is compressed was looked at above; this finds what is not.
    assert not any(KEY.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert KEY not in caplog.text


async def test_a_missing_key_is_one_line_before_anything_is_asked(
    ledger: Ledger, entry_for: Callable[..., ModelEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = FaultyServer()
    with running(server) as address, pytest.raises(ValueError, match=r"test: TEST_KEY is not set; put it into \.env"):
        async for _ in ask_all(questions(1), entry_for("openai", address), ledger, {"TEST_KEY": " "}):
            pass
    assert server.log.asked == []


async def test_a_redirect_is_not_followed_with_the_key(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server, thief = FaultyServer(), FaultyServer()
    with running(server) as address, running(thief) as elsewhere:
        server.moved_to = f"{elsewhere}/v1/chat/completions"
        entry = entry_for("openai", address, base_url=f"{address}/moved")
        answers = await ask(questions(2), entry, ledger)
    assert thief.log.headers == []
    assert {answer.status for answer in answers} == {Status.PROVIDER_ERROR}
    assert all("redirects elsewhere" in str(answer.error) for answer in answers)


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic"])
async def test_keys_and_headers_of_the_environment_stay_at_home(
    provider: str, ledger: Ledger, entry_for: Callable[..., ModelEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = "foreign-secret-0123456789"
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, foreign)
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"X-Secret: {foreign}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    server = FaultyServer()
    with running(server) as address:
        keyless = {"key_env": None} if provider == "openai_compatible" else {}
        answers = await ask(questions(1), entry_for(provider, address, **keyless), ledger)
    assert answers[0].status is Status.OK
    assert foreign not in str(server.log.headers)


async def test_memory_of_a_broken_ledger_is_one_error(
    ledger: Ledger, entry_for: Callable[..., ModelEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise LedgerError("sqlite:///x: cannot be written (database or disk is full)")

    server = FaultyServer(latency=0.02)
    with running(server) as address:
        monkeypatch.setattr(Ledger, "exchange", broken)
        with pytest.raises(LedgerError, match="disk is full"):
            await ask(questions(50), entry_for("openai", address), ledger)
    assert server.log.asked == []


async def test_an_agent_asks_step_by_step(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = FaultyServer()
    with running(server) as address:
        async with Client(entry_for("anthropic", address), ledger, ENVIRONMENT, policy=QUICK) as client:

            async def agent(number: int) -> list[str]:
                messages = [{"role": "user", "content": f"start{number}"}]
                for step in range(3):
                    answer = await client.ask(ChatRequest(list(messages), purpose=f"agent {number}"))
                    messages += [{"role": "assistant", "content": answer.text}]
                    messages += [{"role": "user", "content": f"step{step} of {number}"}]
                return [str(message["content"]) for message in messages if message["role"] == "assistant"]

            replies = await asyncio.gather(*(agent(number) for number in range(4)))
    assert replies[2] == ["answer to start2", "answer to step0", "answer to step1"]
    assert len(server.log.asked) == 12


def test_callers_without_a_loop_may_stop_early(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = FaultyServer(latency=0.01)
    seen: list[Tally] = []
    with running(server) as address:
        entry = entry_for("openai", address)
        answers: Iterator[Answer] = ask_all_now(questions(300), entry, ledger, ENVIRONMENT, policy=QUICK)
        for _ in range(5):
            next(answers)
        answers.close()  # type: ignore[attr-defined]
        stopped_at = len(server.log.asked)
        assert stopped_at < 300
        rest = list(ask_all_now(questions(300), entry, ledger, ENVIRONMENT, progress=seen.append, policy=QUICK))
    assert len(rest) == 300
    # Those in flight at the stop may be asked again, and no others.
    assert max(Counter(prompt for _, prompt in server.log.asked).values()) <= 2
    assert len(server.log.asked) <= 300 + UNRECORDED * entry.max_concurrency
    assert (seen[-1].done, seen[-1].total, seen[-1].by_status) == (300, 300, {Status.OK: 300})
    assert seen[-1].cost_usd > 0
    assert "300 / 300 done" in str(seen[-1])


def test_stopping_does_not_wait_for_a_slow_answer(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    with running(FaultyServer()) as address:
        entry = entry_for("openai", address)
        asked = [*questions(1), *questions(3, suffix="[fault:slow]")]
        answers = ask_all_now(asked, entry, ledger, ENVIRONMENT, policy=RetryPolicy(try_seconds=3_600))
        next(answers)
        started = time.monotonic()
        answers.close()  # type: ignore[attr-defined]
        # The server answers after ten seconds.
        assert time.monotonic() - started < 8
        assert next(ask_all_now(questions(1), entry, ledger, ENVIRONMENT)).from_ledger


def test_reading_the_package_loads_no_dagster() -> None:
    code = "import resources.llm.run, resources.llm.client, sys; sys.exit('dagster' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
