"""Batches at both providers' endpoints: handed in once, collected once, lost never."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from resources.llm import batch as batches
from resources.llm.batch import collect, submit
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.model_entry import Capabilities, ModelEntry
from resources.outcomes import Status
from tests.servers.batching import BatchServer
from tests.servers.faulty import running

from .conftest import ENVIRONMENT

PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])


def questions(*faults: str) -> list[ChatRequest]:
    return [ChatRequest([{"role": "user", "content": f"q{i} {fault}"}]) for i, fault in enumerate(faults)]


def batched(entry_for: Callable[..., ModelEntry], provider: str, address: str) -> ModelEntry:
    return entry_for(provider, address, batch=True, capabilities=Capabilities(batch=True))


def statuses(ledger: Ledger, entry: ModelEntry, asked: list[ChatRequest]) -> list[Status | None]:
    client = Client(entry, ledger, ENVIRONMENT)
    found = ledger.lookup([client.wire(request).hash for request in asked])
    return [found[h].status if (h := client.wire(request).hash) in found else None for request in asked]


@PROVIDERS
async def test_a_batch_is_collected_once_at_half_the_price(
    provider: str, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    asked = questions("", "", "[fault:server_error]", "[fault:expired]")
    server = BatchServer()
    with running(server) as address:
        entry = batched(entry_for, provider, address)
        handed_in = await submit(asked, entry, ledger, ENVIRONMENT)
        assert [its.requests for its in handed_in] == [4]
        # Nobody hands in twice what is under way.
        assert await submit(asked, entry, ledger, ENVIRONMENT) == []
        assert (await collect(entry, ledger, ENVIRONMENT)).still_open == 1
        server.finish()
        collected = await collect(entry, ledger, ENVIRONMENT)
        assert (collected.answers, collected.failures, collected.still_open) == (2, 2, 0)
        assert (await collect(entry, ledger, ENVIRONMENT)).answers == 0
        assert statuses(ledger, entry, asked) == [Status.OK, Status.OK, None, None]
        # What failed or expired is handed in again, and nothing else.
        again = await submit(asked, entry, ledger, ENVIRONMENT)
        assert [its.requests for its in again] == [2]
    client = Client(entry, ledger, ENVIRONMENT)
    digest = client.wire(asked[1]).hash
    answer = client.answer(asked[1], digest, ledger.lookup([digest])[digest])
    assert answer.text == "answer to q1"
    # 60 fresh at 2, 40 cached at 0.5, 20 out at 10, halved.
    assert answer.cost_usd == pytest.approx((60 * 2.0 + 40 * 0.5 + 20 * 10.0) / 2e6)
    assert len(server.lines) == 6


@PROVIDERS
async def test_a_batch_whose_submitter_never_heard_of_it_is_found(
    provider: str, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    asked = questions("", "", "")
    server = BatchServer()
    with running(server) as address:
        entry = batched(entry_for, provider, address)
        server.lose = True
        with pytest.raises(Exception, match=r"Connection|timed out"):
            await submit(asked, entry, ledger, ENVIRONMENT)
        server.lose = False
        assert await submit(asked, entry, ledger, ENVIRONMENT) == []
        server.finish()
        assert (await collect(entry, ledger, ENVIRONMENT)).answers == 3
    assert statuses(ledger, entry, asked) == [Status.OK] * 3
    assert len(server.lines) == 3


async def test_a_batch_that_never_arrived_is_given_up_in_time(
    ledger: Ledger, entry_for: Callable[..., ModelEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = questions("", "")
    server = BatchServer()
    with running(server) as address:
        entry = batched(entry_for, "openai", address)
        server.drop = True
        with pytest.raises(Exception, match=r"Connection|timed out"):
            await submit(asked, entry, ledger, ENVIRONMENT)
        server.drop = False
        assert (await collect(entry, ledger, ENVIRONMENT)).still_open == 1
        monkeypatch.setattr(batches, "SUBMIT_SECONDS", -1.0)
        assert (await collect(entry, ledger, ENVIRONMENT)).still_open == 0
        assert ledger.open_batches(entry.endpoint, entry.model) == []
        assert [its.requests for its in await submit(asked, entry, ledger, ENVIRONMENT)] == [2]


async def test_a_collection_killed_half_way_goes_on(
    ledger: Ledger, entry_for: Callable[..., ModelEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = questions(*[""] * 5)
    server = BatchServer()
    with running(server) as address:
        entry = batched(entry_for, "openai", address)
        await submit(asked, entry, ledger, ENVIRONMENT)
        server.finish()
        monkeypatch.setattr(batches, "SETTLED_AT_ONCE", 2)
        whole, calls = Ledger.exchange, iter(range(10))

        def dies(*arguments: object) -> object:
            if next(calls) == 1:
                raise KeyboardInterrupt
            return whole(*arguments)  # type: ignore[arg-type]

        with monkeypatch.context() as dying:
            dying.setattr(Ledger, "exchange", dies)
            with pytest.raises(KeyboardInterrupt):
                await collect(entry, ledger, ENVIRONMENT)
        assert statuses(ledger, entry, asked).count(Status.OK) == 2
        assert (await collect(entry, ledger, ENVIRONMENT)).answers == 5
    client = Client(entry, ledger, ENVIRONMENT)
    found = ledger.lookup([client.wire(request).hash for request in asked])
    assert [its.attempts for its in found.values()] == [1] * 5


async def test_a_model_without_batch_is_refused(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    with pytest.raises(ValueError, match="does not say batch: true"):
        await submit([], entry_for("openai", "http://127.0.0.1:9"), ledger, ENVIRONMENT)


STRAY = [
    b"[" * 100_000,
    b"",
    b"7",
    b"null",
    b'{"cut',
    b"{}",
    b'{"custom_id": 7, "response": {}, "result": {"type": "succeeded", "message": {}}}',
    b'{"custom_id": "b", "response": "words", "result": "words"}',
    b'{"custom_id": "c", "response": {"status_code": "many", "body": {}}, "result": {"type": "errored"}}',
    b'{"custom_id": "d", "response": {"status_code": 1e999, "body": {}}, "result": {}}',
    b'{"custom_id": "\\ud83d", "response": [], "result": []}',
    b'{"custom_id": "0123abcd", "response": {"status_code": 200, "body": {}},'
    b' "result": {"type": "succeeded", "message": {}}}',
    b'{"custom_id": "\\u0000", "response": {"status_code": 200, "body": {}},'
    b' "result": {"type": "succeeded", "message": {}}}',
]
"""Lines of a file of results that are none, or not of ours."""


@PROVIDERS
async def test_a_line_that_cannot_be_read_keeps_no_other_from_being_read(
    provider: str, ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    asked = questions("", "")
    server = BatchServer(stray=STRAY)
    with running(server) as address:
        entry = batched(entry_for, provider, address)
        await submit(asked, entry, ledger, ENVIRONMENT)
        server.finish()
        collected = await collect(entry, ledger, ENVIRONMENT)
        assert (collected.answers, collected.failures, collected.still_open) == (2, 0, 0)
        assert statuses(ledger, entry, asked) == [Status.OK, Status.OK]
