"""Every provider, streaming and not, against a server that fails in every way: requests end in the right status."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from resources.llm.answer import Answer
from resources.llm.budget import Budget
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.model_entry import ModelEntry, Parameters
from resources.outcomes import Status
from tests.servers.faulty import FaultyServer, running

from .conftest import ENVIRONMENT, KEY, QUICK

pytestmark = pytest.mark.usefixtures("short_pauses")

STREAMED = Parameters(max_output_tokens=20_000)
# Fault, status, and how many tries the server must have seen.
CASES = [
    ("", Status.OK, 1),
    ("rate_limited*2", Status.OK, 3),
    ("rate_limited_with_advice*1", Status.OK, 2),
    ("rate_limited", Status.PROVIDER_ERROR, QUICK.rejections),
    ("overloaded*2", Status.OK, 3),
    ("server_error*2", Status.OK, 3),
    ("server_error", Status.PROVIDER_ERROR, QUICK.errors),
    ("insane_advice*1", Status.OK, 2),
    ("bad_gateway*1", Status.OK, 2),
    ("slow*1", Status.OK, 2),
    ("reset*2", Status.OK, 3),
    ("reset", Status.PROVIDER_ERROR, QUICK.errors),
    ("malformed*1", Status.OK, 2),
    ("malformed", Status.PROVIDER_ERROR, QUICK.errors),
    ("wrong_shape", Status.PROVIDER_ERROR, QUICK.errors),
    ("error_with_200*1", Status.OK, 2),
    ("empty", Status.EMPTY, 1),
    ("spent_on_reasoning", Status.EMPTY, 1),
    ("refusal", Status.REFUSED, 1),
    ("filtered", Status.FILTERED, 1),
    ("length", Status.TRUNCATED, 1),
    ("context", Status.CONTEXT_OVERFLOW, 1),
    ("wrong_usage", Status.OK, 1),
    ("no_usage", Status.OK, 1),
    ("unprocessable", Status.PROVIDER_ERROR, 1),
]
ONLY_STREAMED = [("reset_in_stream*2", Status.OK, 3), ("error_in_stream*1", Status.OK, 2)]
ONLY_WHOLE = [("surrogate", Status.OK, 1)]


async def collect(requests: list[ChatRequest], entry: ModelEntry, ledger: Ledger) -> dict[str, Answer]:
    """Answers by the first word of their prompt."""
    answers = [a async for a in ask_all(requests, entry, ledger, ENVIRONMENT, policy=QUICK)]
    assert len(answers) == len(requests)
    return {answer.request.messages[0]["content"].split()[0]: answer for answer in answers}


def prompts(cases: list[tuple[str, Status, int]]) -> list[ChatRequest]:
    return [
        ChatRequest([{"role": "user", "content": f"q{i} [fault:{fault}]" if fault else f"q{i} plain"}])
        for i, (fault, _, _) in enumerate(cases)
    ]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", ["openai", "openai_compatible", "anthropic"])
async def test_every_fault_ends_in_its_status(
    provider: str, stream: bool, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    cases = CASES + (ONLY_STREAMED if stream else ONLY_WHOLE)
    server = FaultyServer()
    with running(server) as address:
        entry = entry_for(provider, address, **({"parameters": STREAMED} if stream else {}))
        answers = await collect(prompts(cases), entry, ledger)
        seen = [prompt.split()[0] for _, prompt in server.log.asked]
    for i, (fault, status, tries) in enumerate(cases):
        answer = answers[f"q{i}"]
        assert (fault, answer.status) == (fault, status), answer.error
        assert (fault, seen.count(f"q{i}"), answer.attempts) == (fault, tries, tries)
        assert (answer.error is None) == (status is Status.OK)
        if status is Status.OK and fault not in ("wrong_usage", "no_usage", "surrogate"):
            assert answer.text == f"answer to q{i}"
            assert (answer.served_model, answer.provider_request_id) == ("served-model", "request-1")
        assert answer.first_token is not None if stream and answer.text else not answer.text or not stream
    assert answers[f"q{[case[0] for case in cases].index('length')}"].text.strip() == "half an ans"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_usage_and_cost_mean_the_same_everywhere(
    provider: str, stream: bool, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    with running(FaultyServer()) as address:
        entry = entry_for(provider, address, **({"parameters": STREAMED} if stream else {}))
        answers = await collect(
            [
                ChatRequest([{"role": "user", "content": "plain one"}]),
                ChatRequest([{"role": "user", "content": "wrong [fault:wrong_usage]"}]),
            ],
            entry,
            ledger,
        )
    usage = answers["plain"].usage
    # OpenAI says 100 of which 40 cached, Anthropic 60 beside 40 cached: the same thing.
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (100, 40, 20)
    assert answers["plain"].cost_usd == pytest.approx((60 * 2.0 + 40 * 0.5 + 20 * 10.0) / 1e6)
    assert answers["wrong"].usage.prompt_tokens is None
    assert answers["wrong"].cost_usd is None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_wrong_key_stops_the_run_after_one_request(
    provider: str, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = FaultyServer()
    with running(server) as address:
        entry = entry_for(provider, address, max_concurrency=1)
        requests = [ChatRequest([{"role": "user", "content": f"q{i} [fault:bad_key]"}]) for i in range(30)]
        answers = await collect(requests, entry, ledger)
    assert len(server.log.asked) == 1
    assert server.log.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert {answer.status for answer in answers.values()} == {Status.PROVIDER_ERROR}
    assert not any(KEY in str(answer.error) for answer in answers.values())


async def test_an_empty_account_is_not_retried(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = FaultyServer()
    with running(server) as address:
        request = ChatRequest([{"role": "user", "content": "q [fault:no_quota]"}])
        answers = await collect([request], entry_for("openai", address), ledger)
    assert answers["q"].status is Status.PROVIDER_ERROR
    assert len(server.log.asked) == 1


async def test_a_time_out_says_after_how_long(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    with running(FaultyServer()) as address:
        request = ChatRequest([{"role": "user", "content": "q [fault:slow]"}])
        policy = replace(QUICK, errors=1, try_seconds=0.2)
        entry = entry_for("openai", address)
        (answer,) = [a async for a in ask_all([request], entry, ledger, ENVIRONMENT, policy=policy)]
    assert re.fullmatch(r"time-out after [\d.]+ s: the reply was not complete", str(answer.error))
    assert answer.cost_usd is None, "the reply may have been written and lost"


async def test_what_a_run_that_stopped_had_lost_costs_nobody_knows_what(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    """A request that waits for its second try when asking stops; beside it others whose key is wrong."""
    with running(FaultyServer()) as address:
        lost = ChatRequest([{"role": "user", "content": "lost [fault:slow]"}])
        stops = ChatRequest([{"role": "user", "content": "stops [fault:bad_key]"}])
        policy = replace(QUICK, try_seconds=0.2, first_wait=1.0, longest_wait=1.0)
        client = Client(entry_for("openai", address), ledger, ENVIRONMENT, policy=policy)
        async with client:
            first = asyncio.create_task(client.ask(lost))
            await asyncio.sleep(0.4)
            second = await client.ask(stops)
            answer = await first
    assert (answer.attempts, answer.cost_usd) == (1, None)
    assert "not asked any more in this run" in str(answer.error)
    assert second.cost_usd == 0.0


async def test_a_dead_server_stops_the_run(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    entry = entry_for("openai", "http://127.0.0.1:9")
    requests = [ChatRequest([{"role": "user", "content": f"q{i} x"}]) for i in range(300)]
    answers = await collect(requests, entry, ledger)
    assert {answer.status for answer in answers.values()} == {Status.PROVIDER_ERROR}
    tried = [answer for answer in answers.values() if answer.attempts]
    assert all("connection: [Errno 111]" in str(answer.error) for answer in answers.values())
    assert {(a.cost_usd, a.usage.prompt_tokens, a.usage.completion_tokens) for a in answers.values()} == {(0.0, 0, 0)}
    # Those in flight when the run stops finish their try.
    assert QUICK.failures_in_a_row <= len(tried) <= QUICK.failures_in_a_row + 2 * entry.max_concurrency


async def test_a_refused_connection_costs_nothing(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    entry = entry_for("openai", "http://127.0.0.1:9", max_concurrency=1)
    requests = [ChatRequest([{"role": "user", "content": f"q{i}"}]) for i in range(3)]
    # One request may cost a tenth of a cent, so that the second would not fit if the first had cost anything.
    asked = ask_all(requests, entry, ledger, ENVIRONMENT, policy=QUICK, budget=Budget("refused", run_usd=0.0015))
    assert [answer.status async for answer in asked] == [Status.PROVIDER_ERROR] * 3


async def test_tools_round_trip_through_anthropic(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"code": "1+1"}'}}
    tool = {"type": "function", "function": {"name": "run", "description": "d", "parameters": {"type": "object"}}}
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "user", "content": "last turn"},
    ]
    server = FaultyServer()
    with running(server) as address:
        request = ChatRequest(messages, tools=[tool])
        entry = entry_for("anthropic", address)
        answers = [a async for a in ask_all([request], entry, ledger, ENVIRONMENT, policy=QUICK)]
    assert answers[0].status is Status.OK
    assert server.log.bodies[0] == {
        "model": "wire-model",
        "max_tokens": 100,
        "system": "be brief",
        "tools": [{"name": "run", "description": "d", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "run", "input": {"code": "1+1"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "2"}]},
            {"role": "user", "content": "last turn"},
        ],
    }
