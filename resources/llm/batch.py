"""Asking by batch, for half the price and within a day: hand in, go away, collect.

A batch is in the ledger before the provider knows of it, and its requests are claimed in its name, so that nobody
asks them meanwhile and a program killed at any moment loses nothing: the next collection finds the batch again.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from resources.llm.answer import Reply
from resources.llm.bodies import parse
from resources.llm.budget import Budget, new_run
from resources.llm.ledger import Ledger
from resources.llm.outcome import Failure, http_failure, network_failure
from resources.llm.owner import batch_owner
from resources.llm.pricing import cost_usd, most_usd, price_at
from resources.llm.providers import Provider, output_cap, provider_of, wire
from resources.llm.providers.batch_ends import SUBMIT_SECONDS, BatchEnd, Result, batch_end
from resources.llm.records import Attempt, Batch, ClaimState, Exchange, Opening, Settlement
from resources.llm.request import ChatRequest, WireRequest
from resources.llm.secrets import Redactor, key_of
from resources.llm.storing import parts
from resources.llm.tokens import prompt_tokens
from resources.model_entry import ModelEntry

# OpenAI takes 50,000 requests and 200 MB, Anthropic 100,000 and 256 MB.
MOST_REQUESTS, MOST_BYTES = 50_000, 150_000_000
SETTLED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Collected:
    """What a look at the open batches brought."""

    answers: int = 0
    failures: int = 0
    still_open: int = 0


async def submit(
    requests: Iterable[ChatRequest],
    entry: ModelEntry,
    ledger: Ledger,
    environment: Mapping[str, str],
    budget: Budget | None = None,
) -> list[Batch]:
    """Hand in those of `requests` that have no answer and that nobody asks at the moment.

    Raises ValueError when the entry has no batch endpoint, LedgerError, and the kit's error when the provider takes
    the batch not; its claims are then free again.
    """
    end, provider = batch_end(entry), provider_of(entry)
    budget = (budget or Budget(new_run())).asking(entry)
    submitted = []
    async with _client(entry, provider, environment) as client:
        for wires in _portions(requests, entry, provider):
            key = uuid.uuid4().hex
            owner = batch_owner(key)
            openings = [Opening(each, _most_usd(each, entry) if budget.has_ceiling else None) for each in wires]
            claims = ledger.exchange(owner, Exchange([], openings), budget)
            mine = [each for each, claim in zip(wires, claims, strict=True) if claim.state is ClaimState.MINE]
            if not mine:
                continue
            batch = Batch(key, entry.endpoint, entry.model, budget.run, len(mine), time.time())
            ledger.open_batch(batch, owner)
            submitted.append(await _hand_in(batch, mine, end, client, ledger))
    return submitted


async def collect(entry: ModelEntry, ledger: Ledger, environment: Mapping[str, str]) -> Collected:
    """Record the results of the model's batches that have ended. May be repeated and killed at any time."""
    end, provider = batch_end(entry), provider_of(entry)
    answers = failures = still_open = 0
    async with _client(entry, provider, environment) as client:
        for batch in ledger.open_batches(entry.endpoint, entry.model):
            provider_id = batch.provider_id or await _adopt(batch, end, client, ledger)
            if provider_id is None:
                still_open += time.time() - batch.created_at <= SUBMIT_SECONDS
                continue
            if not await end.has_ended(client, provider_id):
                still_open += 1
                continue
            results = [result async for result in end.results(client, provider_id)]
            reader = _Reader(entry, provider, provider_id, Redactor(key_of(entry, environment)))
            found = _record(batch, results, reader, ledger)
            answers, failures = answers + found, failures + batch.requests - found
            # What has no result (expired, cancelled) is free to be asked again.
            _close(batch, ledger, "collected")
    return Collected(answers, failures, still_open)


async def _hand_in(batch: Batch, wires: list[WireRequest], end: BatchEnd, client: Any, ledger: Ledger) -> Batch:
    try:
        provider_id = await end.submit(client, batch.key, [(each.hash, each.body) for each in wires])
    except Exception as error:
        # After a time-out nobody knows whether the provider has it: the next collection finds out.
        if getattr(error, "status_code", None) is not None:
            _close(batch, ledger, "given_up")
        raise
    ledger.update_batch(batch.key, provider_id=provider_id)
    return Batch(batch.key, batch.endpoint, batch.model, batch.run, batch.requests, batch.created_at, provider_id)


async def _adopt(batch: Batch, end: BatchEnd, client: Any, ledger: Ledger) -> str | None:
    provider_id = await end.find(client, batch)
    if provider_id is not None:
        ledger.update_batch(batch.key, provider_id=provider_id)
    elif time.time() - batch.created_at > SUBMIT_SECONDS:
        _close(batch, ledger, "given_up")
    return provider_id


def _close(batch: Batch, ledger: Ledger, state: str) -> None:
    ledger.release(batch_owner(batch.key))
    ledger.update_batch(batch.key, state=state, closed_at=time.time())


def _record(batch: Batch, results: list[Result], reader: _Reader, ledger: Ledger) -> int:
    """Store the results; those that a collection killed half-way stored are left as they are, strangers' left out."""
    answers = 0
    budget = Budget(batch.run, model=(batch.endpoint, batch.model))
    once = {result.request_hash: result for result in results}
    for part in parts(once.values(), SETTLED_AT_ONCE):
        hashes = [result.request_hash for result in part]
        known, ours = ledger.lookup(hashes), ledger.known(hashes)
        new = [reader.settlement(result) for result in part if result.request_hash in ours - known.keys()]
        ledger.exchange(batch_owner(batch.key), Exchange(new, []), budget)
        answers += len(known) + sum(1 for its in new if its.status is not None and its.status.is_scored)
    return answers


class _Reader:
    """Makes a result into what is stored."""

    def __init__(self, entry: ModelEntry, provider: Provider, provider_id: str, redactor: Redactor) -> None:
        self._entry, self._provider, self._id, self._redactor = entry, provider, provider_id, redactor

    def settlement(self, result: Result) -> Settlement:
        now = time.time()
        body = self._redactor.bytes(result.body)
        outcome = self._outcome(result.code, body)
        reply = outcome if isinstance(outcome, Reply) else None
        cost = cost_usd(self._entry, outcome.usage, now, batch=True)
        prices = None if cost is None else price_at(self._entry, now)
        attempt = Attempt(
            started_at=now,
            finished_at=now,
            status=outcome.status,
            error=outcome.error if isinstance(outcome, Reply) else outcome.message,
            http_status=result.code,
            transport=f'{{"batch":"{self._id}"}}',
            response=body,
            usage=outcome.usage,
            cost_usd=cost,
            price_since=None if prices is None else prices.since.isoformat(),
            served_model=None if reply is None else reply.served_model,
            fingerprint=None if reply is None else reply.fingerprint,
        )
        return Settlement(result.request_hash, attempt, attempt.status, cost or 0.0)

    def _outcome(self, code: int, body: bytes) -> Reply | Failure:
        if code != 200:
            return http_failure(code, body)
        try:
            return self._provider.read(parse(body))
        except Exception as error:  # whatever reading something unforeseen raises
            return network_failure("malformed reply", error)


@asynccontextmanager
async def _client(entry: ModelEntry, provider: Provider, environment: Mapping[str, str]) -> AsyncIterator[Any]:
    client = provider.client(entry, key_of(entry, environment), 4)
    try:
        yield client
    finally:
        await client.close()


def _portions(requests: Iterable[ChatRequest], entry: ModelEntry, provider: Provider) -> Iterable[list[WireRequest]]:
    portion: list[WireRequest] = []
    size = 0
    for request in requests:
        portion.append(wire(provider, entry, request))
        # A character may take three bytes.
        size += 3 * (len(portion[-1].skeleton) + sum(map(len, portion[-1].texts.values())))
        if len(portion) >= MOST_REQUESTS or size > MOST_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _most_usd(asked: WireRequest, entry: ModelEntry) -> float | None:
    return most_usd(entry, prompt_tokens(asked.body), output_cap(entry, asked.body), time.time())
