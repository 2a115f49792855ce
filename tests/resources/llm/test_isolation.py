"""A fault of this project, of whatever kind, ends the request or the model that it met and nothing else."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from resources.llm.asking import answers_of
from resources.llm.budget import Budget
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from tests.servers.faulty import FaultyServer, running

from .conftest import ENVIRONMENT, KEY, QUICK

GOOD = ChatRequest([{"role": "user", "content": "plain"}])
UNWRITABLE: Any = {"role": "user", "content": KEY, "more": 10**30}


async def test_a_request_that_cannot_be_sent_stops_no_other(
    ledger: Ledger, entry_for: Callable[..., ModelEntry], caplog: pytest.LogCaptureFixture
) -> None:
    with running(FaultyServer()) as address:
        async with Client(entry_for("openai", address), ledger, ENVIRONMENT, policy=QUICK) as client:
            bad = await client.ask(ChatRequest([UNWRITABLE]))
            good = await client.ask(GOOD)
    assert (bad.status, bad.attempts) == (Status.PROVIDER_ERROR, 0)
    assert bad.error is not None
    assert bad.error.startswith("client: ")
    assert (good.status, good.text) == (Status.OK, "answer to plain")
    assert "Traceback" in caplog.text


async def test_each_request_of_a_model_that_breaks_is_answered(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    requests = [GOOD, ChatRequest([UNWRITABLE]), ChatRequest(GOOD.messages, repeat=1)]
    with running(FaultyServer()) as address:
        log = logging.getLogger("isolation")
        entry = entry_for("openai", address)
        asked = answers_of(entry, lambda: requests, ledger, ENVIRONMENT, Budget("test"), log)
        answers = [answer async for answer in asked]
    assert sorted(map(id, requests)) == sorted(id(answer.request) for answer in answers)
    assert {answer.status for answer in answers if answer.request is requests[1]} == {Status.PROVIDER_ERROR}
    assert all(answer.error for answer in answers if answer.status is not Status.OK)
