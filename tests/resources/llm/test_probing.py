"""What models take is found out once, from servers that refuse in the words of real providers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from resources.llm.budget import Budget
from resources.llm.capabilities import UnfitEntry
from resources.llm.ledger import Ledger
from resources.llm.probing import ProbeFailed, fitted
from resources.llm.refusals import refusal
from resources.model_entry import ModelEntry, Parameters
from resources.outcomes import Status
from tests.servers import picky
from tests.servers.faulty import running
from tests.servers.picky import PickyServer, sends

from .conftest import ENVIRONMENT, KEY

LOG = logging.getLogger("probing")
PUBLISHED = Parameters(temperature=0.7, max_output_tokens=65_536)


def probed(entry_for: Callable[..., ModelEntry], provider: str, address: str, **fields: Any) -> ModelEntry:
    return entry_for(provider, address, **({"probe": True, "capabilities": {}, "parameters": PUBLISHED} | fields))


async def fit(entry: ModelEntry, ledger: Ledger, budget: Budget | None = None) -> ModelEntry:
    return await fitted(entry, ledger, ENVIRONMENT, budget or Budget("probe"), LOG)


async def test_a_reasoning_model_behind_openai(
    ledger: Ledger, entry_for: Callable[..., ModelEntry], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server = PickyServer(
        (sends("max_tokens"), picky.OPENAI_MAX_TOKENS),
        (sends("temperature"), picky.OPENAI_TEMPERATURE),
        (lambda body: body.get("reasoning_effort") == "low", picky.OPENAI_EFFORT),
        (sends("stream"), picky.OPENAI_STREAM),
    )
    with running(server) as address:
        entry = probed(entry_for, "openai_compatible", address)
        found = await fit(entry, ledger)
        first = dict(server.log.statuses)
        again = await fit(entry, ledger)
    # One answer is paid for; refusals are not, and nothing is asked a second time.
    assert first == dict(server.log.statuses) == {400: 4, 200: 1}
    assert found == again
    takes = found.capabilities
    assert (takes.temperature, takes.token_cap, takes.stream) == (False, "max_completion_tokens", False)
    assert (takes.tools, takes.structured, takes.efforts) == (True, True, ("medium", "high", "xhigh"))
    assert found.parameters.temperature is None
    assert found.parameters.max_output_tokens == 65_536
    # 60 fresh tokens at 2, 40 cached at 0.5 and 20 written at 10 dollars per million.
    assert "test: takes no temperature, does not stream, calls tools, keeps to a JSON schema" in caplog.text
    assert "for $0.0003)" in caplog.text
    spent = ledger.spent(Budget("probe"))
    assert list(spent.values()) == pytest.approx([340e-6, 340e-6])


async def test_an_older_chat_model(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = PickyServer(
        (lambda body: body.get("max_completion_tokens", 0) > 16_384, picky.OPENAI_TOO_MANY),
        (sends("reasoning_effort"), picky.OPENAI_NO_EFFORT),
        (sends("response_format"), picky.OPENAI_SCHEMA),
    )
    with running(server) as address:
        found = await fit(probed(entry_for, "openai", address), ledger)
    takes = found.capabilities
    assert (takes.temperature, takes.token_cap, takes.structured) == (True, "max_completion_tokens", False)
    assert (takes.efforts, found.parameters.max_output_tokens) == ((), 16_384)
    assert found.parameters.temperature == 0.7
    assert server.log.statuses == {400: 3, 200: 1}


@pytest.mark.parametrize("tools", [picky.OLLAMA_TOOLS, picky.LLAMA_CPP_TOOLS])
async def test_servers_of_open_models(
    tools: picky.Refusal, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = PickyServer((sends("tools"), tools), (lambda body: body["max_tokens"] > 12_288, picky.VOLCENGINE_TOO_MANY))
    with running(server) as address:
        found = await fit(probed(entry_for, "openai_compatible", address), ledger)
    assert (found.capabilities.tools, found.capabilities.token_cap) == (False, "max_tokens")
    assert found.parameters.max_output_tokens == 12_288


async def test_what_anthropic_lists_is_not_asked(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    yes, no = {"supported": True}, {"supported": False}
    effort = {"supported": True, "low": yes, "high": yes, "max": no}
    capabilities = {"batch": yes, "effort": effort, "structured_outputs": yes}
    row = {"id": "wire-model", "max_input_tokens": 200_000, "max_tokens": 8_192, "capabilities": capabilities}
    server = PickyServer((sends("temperature"), picky.ANTHROPIC_TEMPERATURE), listed=[row])
    with running(server) as address:
        found = await fit(probed(entry_for, "anthropic", address), ledger)
    assert (server.looks, dict(server.log.statuses)) == (1, {400: 1, 200: 1})
    assert not any("output_config" in body for body in server.log.bodies)
    assert (found.capabilities.efforts, found.capabilities.structured, found.capabilities.batch) == (
        ("low", "high"),
        True,
        True,
    )
    assert (found.context_length, found.parameters.max_output_tokens) == (200_000, 8_192)
    assert found.parameters.temperature is None


async def test_anthropic_without_a_list(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = PickyServer(
        (sends("output_config.effort"), picky.ANTHROPIC_EFFORT),
        (lambda body: body["max_tokens"] > 8_192, picky.ANTHROPIC_TOO_MANY),
    )
    with running(server) as address:
        found = await fit(probed(entry_for, "anthropic", address), ledger)
    assert (found.capabilities.temperature, found.capabilities.efforts) == (True, ())
    assert found.parameters.max_output_tokens == 8_192


async def test_where_a_refusal_names_nothing_each_part_is_tried(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = PickyServer((sends("temperature"), picky.VAGUE), (sends("tools"), picky.VAGUE))
    with running(server) as address:
        found = await fit(probed(entry_for, "openai", address), ledger)
    takes = found.capabilities
    assert (takes.temperature, takes.tools, takes.stream, takes.structured) == (False, False, True, True)
    assert server.log.statuses == {400: 3, 200: 4}


async def test_what_the_file_says_is_neither_asked_nor_overridden(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    server = PickyServer((sends("temperature"), picky.OPENAI_TEMPERATURE))
    with running(server) as address:
        await fit(probed(entry_for, "openai", address), ledger)
        stated = {"temperature": True, "efforts": ["high"], "tools": False}
        found = await fit(probed(entry_for, "openai", address, capabilities=stated), ledger)
    assert (found.capabilities.temperature, found.capabilities.tools) == (True, False)
    assert (found.capabilities.efforts, found.parameters.temperature) == (("high",), 0.7)
    assert server.log.statuses == {400: 1, 200: 1}


async def test_an_effort_that_is_refused_is_one_line(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = PickyServer((lambda body: body.get("reasoning_effort") == "low", picky.OPENAI_EFFORT))
    with running(server) as address:
        entry = probed(entry_for, "openai", address, parameters=Parameters(effort="low"))
        with pytest.raises(UnfitEntry, match=r"parameters\.effort: the model does not take low but one of medium"):
            await fit(entry, ledger)


async def test_a_wrong_key_is_one_line_without_it(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    wrong = picky.openai_error(f"Incorrect API key provided: {KEY}", None, "invalid_api_key", 401)
    server = PickyServer((lambda _: True, wrong))
    with running(server) as address:
        entry = probed(entry_for, "openai", address)
        with pytest.raises(ProbeFailed, match=r"test: HTTP 401: invalid_api_key") as caught:
            await fit(entry, ledger)
        assert KEY not in str(caught.value)
        # It may be mended, so that the next run asks anew.
        server.rules = ()
        assert (await fit(entry, ledger)).capabilities.temperature
    assert server.log.statuses == {401: 1, 200: 1}


async def test_nothing_is_asked_beyond_the_ceilings(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    server = PickyServer()
    with running(server) as address:
        for fields, budget in (({}, Budget("r", day_usd=0.0)), ({"ceiling_usd": 1e-9}, Budget("r"))):
            with pytest.raises(ProbeFailed) as caught:
                await fit(probed(entry_for, "openai", address, **fields), ledger, budget)
            assert caught.value.status is Status.BUDGET_STOPPED
    assert server.log.bodies == []


async def test_without_the_wish_nothing_is_asked(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    entry = entry_for("openai", "http://127.0.0.1:9")
    assert await fit(entry, ledger) is entry


@pytest.mark.parametrize(
    ("error", "part"),
    [
        ("HTTP 400: Unsupported parameter: 'tools' is not supported with this model.", "tools"),
        ("HTTP 400: output_config.format: Extra inputs are not permitted", "structured"),
        # Two are named, and either may be the culprit.
        ("HTTP 400: Function calling with a response mime type: 'application/json' is unsupported", None),
        ("HTTP 422: [{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort')}]", "effort"),
    ],
)
def test_words_of_refusals(error: str, part: str | None) -> None:
    found = refusal(error)
    assert found is not None
    assert found.part == part


@pytest.mark.parametrize("error", ["HTTP 401: temperature", "time-out: temperature", "", "HTTP 429: temperature"])
def test_other_failures_refuse_nothing(error: str) -> None:
    assert refusal(error) is None
