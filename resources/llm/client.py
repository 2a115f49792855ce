"""One model's client: each request is claimed, asked until it has a final outcome, and recorded before it is given.

`ask` is for one request at a time, such as an agent's step; `run.ask_all` asks many.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Self

import orjson

from resources.llm.answer import SILENCE, Answer
from resources.llm.bodies import parse
from resources.llm.budget import Budget, new_run
from resources.llm.database import LedgerError
from resources.llm.gate import Gate, Place
from resources.llm.group_commit import GroupCommit
from resources.llm.ledger import Ledger
from resources.llm.outcome import network_failure
from resources.llm.owner import new_owner
from resources.llm.pricing import cost_usd, most_usd, price_at
from resources.llm.providers import CachePlan, output_cap, provider_of, wire
from resources.llm.records import Attempt, Claim, ClaimState, Opening, Settlement, Stored
from resources.llm.request import ChatRequest, WireRequest
from resources.llm.retry import RetryPolicy
from resources.llm.secrets import Redactor, key_of
from resources.llm.sending import Sender, Sent
from resources.llm.tokens import prompt_tokens
from resources.llm.usage import NOTHING, UNKNOWN, Usage
from resources.model_entry import ModelEntry
from resources.outcomes import Status

# Longer answers are streamed: a silent connection dies in proxies, and Anthropic demands it above 21,333 tokens.
STREAMED_ABOVE = 16_384
RENEWAL_SECONDS = 25.0
# Requests that are asked and not yet recorded, in multiples of the concurrency.
UNRECORDED = 2
# A request keeps its place until it is recorded, so that a kill loses no more than are in flight; where replies come
# quicker than that, waiting for the ledger would halve the throughput, and they go before.
QUICK_SECONDS = 0.5
POLL_SECONDS = 0.25
LONGEST_POLL_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Client:
    """Asks `entry`'s model through `ledger`; used as an asynchronous context.

    The key is the value of `entry.key_env` in `environment`; ValueError when it is not set. Raises LedgerError when the
    ledger fails; whatever fails at the provider is an answer's status instead.
    """

    def __init__(
        self,
        entry: ModelEntry,
        ledger: Ledger,
        environment: Mapping[str, str],
        budget: Budget | None = None,
        policy: RetryPolicy | None = None,
        streamed_above: int = STREAMED_ABOVE,
    ) -> None:
        self._streamed_above = streamed_above if entry.capabilities.stream else math.inf
        self._entry = entry
        self._provider = provider_of(entry)
        self._policy = policy or RetryPolicy()
        self._budget = (budget or Budget(new_run())).asking(entry)
        key = key_of(entry, environment)
        self._redactor = Redactor(key)
        self._owner = new_owner()
        self._ledger = ledger
        self._commits = GroupCommit(ledger, self._owner, self._budget)
        self._gate = Gate(entry, ledger, self._commits)
        self._sender = Sender(entry, self._provider, key, self._redactor, self._policy.try_seconds)
        counts_money = self._budget.has_ceiling and not entry.costs_nothing
        self._needs_tokens = counts_money or entry.tokens_per_minute is not None
        # Answers that wait for their commit are lost with a killed process, as those in flight are.
        self._unrecorded = asyncio.Semaphore(UNRECORDED * entry.max_concurrency)
        self._failures_in_a_row = 0
        self._stopped: str | None = None
        self._has_told = False
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._commits)
        await self._gate.open()
        self._stack.push_async_callback(self._gate.close)
        await self._stack.enter_async_context(self._sender)
        renewal = asyncio.create_task(self._renew())
        self._stack.callback(renewal.cancel)
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._stack.aclose()

    @property
    def entry(self) -> ModelEntry:
        """Whom this client asks, with what the model was found to take."""
        return self._entry

    def wire(self, request: ChatRequest) -> WireRequest:
        """The request as it would be sent, with its identity."""
        return wire(self._provider, self._entry, request)

    async def lookup(self, hashes: list[str]) -> dict[str, Stored]:
        """Final outcomes that the ledger has already."""
        return await self._commits.call(self._ledger.lookup, hashes)

    async def ask(
        self, request: ChatRequest, *, wire: WireRequest | None = None, plan: CachePlan = CachePlan.ONCE
    ) -> Answer:
        """The answer, from the ledger if it is there, else from the provider. `plan`: will the prompt come again?"""
        try:
            return await self._ask(request, wire or self.wire(request), plan)
        except LedgerError:
            raise
        except Exception as error:  # a fault of this project: it is this request's, and the others go on
            _log.error("%s: %s", self._entry.name, error, exc_info=not self._has_told)
            self._has_told = True
            failure = network_failure("client", error)
            why = self._redactor.text(failure.message)
            return Answer(request, "" if wire is None else wire.hash, failure.status, error=why)

    async def _ask(self, request: ChatRequest, wire: WireRequest, plan: CachePlan) -> Answer:
        tokens = prompt_tokens(wire.body) if self._needs_tokens else 0
        most = self._most_usd(wire, tokens)
        claim = await self._claim(Opening(wire, most))
        if claim.state is ClaimState.NO_MONEY:
            return Answer(request, wire.hash, Status.BUDGET_STOPPED, error=self._why_no_money(most))
        if claim.stored is not None:
            return self.answer(request, wire.hash, claim.stored)
        return await self._pursue(request, wire, plan, tokens, most or 0.0, claim.tries)

    def answer(self, request: ChatRequest, request_hash: str, stored: Stored, *, from_ledger: bool = True) -> Answer:
        """What the ledger has, as an answer. What was read from the response then is read from it again."""
        its = stored.attempt
        words = SILENCE
        # An error's body has no reply in it.
        if its.response is not None and its.http_status is not None and 200 <= its.http_status < 300:
            with suppress(Exception):
                words = self._provider.words(parse(its.response))
        return Answer(
            request,
            request_hash,
            stored.status,
            words.text,
            words.reasoning,
            words.tool_calls,
            words.finish,
            its.usage,
            its.cost_usd,
            its.finished_at - its.started_at,
            its.first_token_seconds,
            its.served_model,
            its.fingerprint,
            its.provider_request_id,
            stored.attempts,
            its.finished_at,
            from_ledger,
            its.error,
        )

    async def _claim(self, opening: Opening) -> Claim:
        poll = POLL_SECONDS
        while True:
            claim = await self._commits.claim(opening)
            if claim.state not in (ClaimState.HELD, ClaimState.NO_MONEY_YET):
                return claim
            await asyncio.sleep(poll)
            poll = min(1.5 * poll, LONGEST_POLL_SECONDS)

    async def _pursue(
        self, request: ChatRequest, wire: WireRequest, plan: CachePlan, tokens: int, most: float, tries: int
    ) -> Answer:
        """Try until there is a final outcome. The claim is this client's; `tries` were made before it."""
        stream = output_cap(self._entry, wire.body) > self._streamed_above
        transport = self._provider.transport(self._entry, plan, wire.prompt_hash, stream)
        errors = rejections = 0
        usage = NOTHING
        while True:
            async with self._unrecorded, self._place(tokens) as place:
                sent = await self._try(place, wire, transport, stream)
                if sent is None:
                    await self._commits.settle(Settlement(wire.hash, status=Status.PROVIDER_ERROR))
                    return self._not_asked_any_more(request, wire, usage, tries)
                if sent.finished_at - sent.started_at < QUICK_SECONDS:
                    place.leave()
                tries += 1
                attempt = self._attempt(sent, transport)
                wait = None
                if failure := sent.failure:
                    usage = attempt.usage if usage == NOTHING else usage
                    rejections, errors = rejections + failure.slow_down, errors + (not failure.slow_down)
                    wait = self._policy.wait(failure, errors, rejections)
                if failure is None or wait is None:
                    self._count(sent)
                    charge = _charge(attempt, sent, most)
                    await self._commits.settle(Settlement(wire.hash, attempt, attempt.status, charge))
                    return self.answer(request, wire.hash, Stored(attempt.status, attempt, tries), from_ledger=False)
                again = Settlement(wire.hash, attempt, None, _charge(attempt, sent, most))
                self._commits.settle(again).add_done_callback(_seen)
            # Being told to slow down, the whole gate waits, and this one no longer than the others the first time.
            await asyncio.sleep(0 if failure.slow_down and rejections == 1 else wait)

    def _not_asked_any_more(self, request: ChatRequest, wire: WireRequest, usage: Usage, tries: int) -> Answer:
        """`usage` is that of the tries that were made before asking stopped."""
        cost = cost_usd(self._entry, usage, time.time())
        return Answer(
            request,
            wire.hash,
            Status.PROVIDER_ERROR,
            usage=usage,
            cost_usd=cost,
            attempts=tries,
            error=self._stopped,
        )

    @asynccontextmanager
    async def _place(self, tokens: int) -> AsyncIterator[Place]:
        """A place in the gate until it is left, at the latest at the block's end; none when asking has stopped."""
        place = Place(self._gate, await self._gate.enter(tokens) if self._stopped is None else None)
        try:
            yield place
        finally:
            place.leave()

    async def _try(self, place: Place, wire: WireRequest, transport: Mapping[str, object], stream: bool) -> Sent | None:
        """One try, when it is this request's turn; None when the run has stopped asking."""
        # Others may have found out meanwhile that asking is of no use.
        if self._stopped is not None or place.start is None:
            return None
        sent = await self._sender.send(orjson.dumps({**wire.body, **transport}), stream)
        place.replied = sent.reply is not None
        if sent.failure is not None and sent.failure.slow_down:
            self._gate.slow_down(place.start, sent.failure.retry_after)
        elif sent.exhausted_for is not None:
            self._gate.hold_until(time.time() + sent.exhausted_for)
        return sent

    def _attempt(self, sent: Sent, transport: Mapping[str, object]) -> Attempt:
        reply, failure = sent.reply, sent.failure
        status = reply.status if reply is not None else failure.status if failure else Status.PROVIDER_ERROR
        error = reply.error if reply is not None else failure.message if failure else None
        usage = reply.usage if reply is not None else failure.usage if failure else UNKNOWN
        cost = cost_usd(self._entry, usage, sent.started_at)
        prices = price_at(self._entry, sent.started_at) if cost is not None else None
        return Attempt(
            started_at=sent.started_at,
            finished_at=sent.finished_at,
            status=status,
            error=None if error is None else self._redactor.text(error),
            http_status=sent.http_status,
            transport=orjson.dumps(transport).decode() if transport else None,
            response=sent.body,
            usage=usage,
            cost_usd=cost,
            price_since=None if prices is None else prices.since.isoformat(),
            first_token_seconds=sent.first_token_seconds,
            provider_request_id=sent.request_id,
            served_model=None if reply is None else reply.served_model,
            fingerprint=None if reply is None else reply.fingerprint,
        )

    def _count(self, sent: Sent) -> None:
        """Stop asking when no request can fare better: the key is wrong, or the provider is down."""
        if sent.failure is None or sent.failure.status.is_scored:
            self._failures_in_a_row = 0
            return
        self._failures_in_a_row += 1
        if sent.failure.fatal or self._failures_in_a_row >= self._policy.failures_in_a_row:
            why = self._redactor.text(sent.failure.message)
            self._stopped = self._stopped or f"not asked any more in this run, because of {why}"

    def _most_usd(self, wire: WireRequest, tokens: int) -> float | None:
        if not self._budget.has_ceiling:
            return None
        return most_usd(self._entry, tokens, output_cap(self._entry, wire.body), time.time())

    def _why_no_money(self, most: float | None) -> str:
        if most is None:
            return f"{self._entry.name}: has no price in models.yaml, so no ceiling holds; add it or lift the ceiling"
        return f"the ceiling of this run, day or model leaves less than the ${most:.4f} that this request can cost"

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            await self._commits.call(self._ledger.renew, self._owner)


def _charge(attempt: Attempt, sent: Sent, most: float) -> float:
    """What counts against the budget: the cost, or the most it can have been when the reply got lost."""
    if attempt.cost_usd is not None:
        return attempt.cost_usd
    return 0.0 if sent.failure is not None and sent.failure.unbilled else most


def _seen(future: asyncio.Future[None]) -> None:
    """A ledger that breaks is reported by the next call that waits for it."""
    if not future.cancelled():
        future.exception()
