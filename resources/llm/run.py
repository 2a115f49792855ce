"""Asking many requests: what the ledger has comes first and at once, the rest as it is answered.

Requests are read a portion at a time, so memory does not grow with their number. Repeats of one prompt that follow
each other are asked the first alone and the rest after it, when the provider's cache can serve them.
"""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import aclosing, asynccontextmanager, suppress

from resources.llm.answer import Answer, Tally
from resources.llm.budget import Budget
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.providers import CachePlan
from resources.llm.records import Stored
from resources.llm.request import ChatRequest, WireRequest
from resources.llm.retry import RetryPolicy
from resources.model_entry import ModelEntry

PORTION_REQUESTS = 500
PORTION_CHARACTERS = 4_000_000
PROGRESS_SECONDS = 1.0
# Answers that a caller without an event loop has not taken yet.
WAITING_ANSWERS = 1_000
# Of prompts as long as a spectrum's tables only so many are held at once, or memory would grow with the concurrency.
LONG_PROMPT, MOST_LONG_PROMPTS = 100_000, 64
# Requests beyond those in flight that are already claimed, so that a free place is filled at once.
AHEAD = 3

Pair = tuple[ChatRequest, WireRequest]


async def ask_all(
    requests: Iterable[ChatRequest],
    entry: ModelEntry,
    ledger: Ledger,
    environment: Mapping[str, str],
    *,
    budget: Budget | None = None,
    progress: Callable[[Tally], None] | None = None,
    policy: RetryPolicy | None = None,
) -> AsyncGenerator[Answer, None]:
    """Answers to `requests` in the order they come, each once committed; `answer.request` is the very request.

    `environment` holds the key (`registry.read_environment`). `progress` is called about once a second, answers or
    not, and at the end. Raises LedgerError; provider's failures are statuses of answers.
    """
    tally = Tally(len(requests) if isinstance(requests, Sized) else None)
    async with Client(entry, ledger, environment, budget, policy) as client, _telling(tally, progress):
        found: asyncio.Queue[Sequence[Answer] | None] = asyncio.Queue(maxsize=200)
        feeding = asyncio.create_task(_feed(requests, client, entry, found))
        try:
            while (answers := await found.get()) is not None:
                for answer in answers:
                    tally.add(answer)
                    yield answer
            await feeding
        finally:
            feeding.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await feeding


@asynccontextmanager
async def _telling(tally: Tally, progress: Callable[[Tally], None] | None) -> AsyncIterator[None]:
    """Calls `progress` again and again meanwhile, and once when all has gone well."""

    async def tell() -> None:
        while progress:
            await asyncio.sleep(PROGRESS_SECONDS)
            progress(tally)

    telling = asyncio.create_task(tell())
    try:
        yield
        if progress:
            progress(tally)
    finally:
        telling.cancel()


def ask_all_now(
    requests: Iterable[ChatRequest],
    entry: ModelEntry,
    ledger: Ledger,
    environment: Mapping[str, str],
    *,
    budget: Budget | None = None,
    progress: Callable[[Tally], None] | None = None,
    policy: RetryPolicy | None = None,
) -> Iterator[Answer]:
    """The same for callers without an event loop; closing the iterator stops the run and frees its claims.

    The run goes on in a thread of its own while the caller works on an answer; `requests` and `progress` are used
    in that thread.
    """
    found: queue.Queue[Answer | BaseException | None] = queue.Queue(maxsize=WAITING_ANSWERS)
    stopped = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = []

    def hand_over(item: Answer | BaseException | None) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                found.put(item, timeout=0.1)
                return

    async def work() -> None:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        answers = ask_all(requests, entry, ledger, environment, budget=budget, progress=progress, policy=policy)
        async with aclosing(answers):
            async for answer in answers:
                # The caller may be slow; the requests in flight must not wait for it.
                try:
                    found.put_nowait(answer)
                except queue.Full:
                    await asyncio.to_thread(hand_over, answer)

    def run() -> None:
        try:
            asyncio.run(work())
            hand_over(None)
        except BaseException as error:
            hand_over(error)

    thread = threading.Thread(target=run, name=f"asking {entry.name}", daemon=True)
    thread.start()
    try:
        while (item := found.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        for loop, task in running:
            # Without effect when the run has ended; a closed loop says so.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel if task else loop.stop)
        thread.join()


class _Places:
    """How many requests are on their way at once, and how many of them with long prompts."""

    def __init__(self, count: int) -> None:
        self._all, self._long = asyncio.Semaphore(count), asyncio.Semaphore(MOST_LONG_PROMPTS)

    async def acquire(self, wire: WireRequest) -> None:
        if self._is_long(wire):
            await self._long.acquire()
        await self._all.acquire()

    def release(self, wire: WireRequest) -> None:
        self._all.release()
        if self._is_long(wire):
            self._long.release()

    @staticmethod
    def _is_long(wire: WireRequest) -> bool:
        return sum(map(len, wire.texts.values())) > LONG_PROMPT


async def _feed(
    requests: Iterable[ChatRequest], client: Client, entry: ModelEntry, found: asyncio.Queue[Sequence[Answer] | None]
) -> None:
    """Put everything that is answered into `found`, and None at the end or when something breaks."""
    places = _Places(max(2, int(AHEAD * entry.max_concurrency)))
    caches = entry.capabilities.cache != "none"
    try:
        async with asyncio.TaskGroup() as group:
            async for portion, stored in _looked_up(requests, client):
                known = [(request, wire) for request, wire in portion if wire.hash in stored]
                if known:
                    await found.put([client.answer(request, wire.hash, stored[wire.hash]) for request, wire in known])
                for members in _groups([pair for pair in portion if pair[1].hash not in stored], caches):
                    await places.acquire(members[0][1])
                    group.create_task(_ask_group(members, client, places, found))
    except BaseExceptionGroup as errors:
        # One line about what broke says more than a tree of the same from every request in flight.
        raise errors.exceptions[0] from None
    finally:
        await asyncio.shield(found.put(None))


async def _ask_group(
    members: Sequence[Pair], client: Client, places: _Places, found: asyncio.Queue[Sequence[Answer] | None]
) -> None:
    """The first member alone, so that the cache entry it makes serves the others. One place is taken already."""
    plan = CachePlan.AGAIN if len(members) > 1 else CachePlan.ONCE

    async def ask(pair: Pair, acquire: bool) -> None:
        if acquire:
            await places.acquire(pair[1])
        try:
            answer = await client.ask(pair[0], wire=pair[1], plan=plan)
        finally:
            places.release(pair[1])
        await found.put([answer])

    await ask(members[0], acquire=False)
    if len(members) > 1:
        async with asyncio.TaskGroup() as rest:
            for pair in members[1:]:
                rest.create_task(ask(pair, acquire=True))


async def _looked_up(
    requests: Iterable[ChatRequest], client: Client
) -> AsyncGenerator[tuple[list[Pair], dict[str, Stored]], None]:
    """Portions with what the ledger has of each. The next is made ready while the ledger is read."""
    portions = _portions(requests, client)
    portion = next(portions, None)
    while portion is not None:
        reading = asyncio.gather(client.lookup([wire.hash for _, wire in portion]))
        # Its turn, so that the ledger's thread begins.
        await asyncio.sleep(0)
        following = next(portions, None)
        (stored,) = await reading
        yield portion, stored
        portion = following


def _portions(requests: Iterable[ChatRequest], client: Client) -> Iterator[list[Pair]]:
    portion: list[Pair] = []
    size = 0
    for request in requests:
        wire = client.wire(request)
        portion.append((request, wire))
        size += len(wire.skeleton) + sum(map(len, wire.texts.values()))
        if len(portion) >= PORTION_REQUESTS or size > PORTION_CHARACTERS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _groups(pairs: Sequence[Pair], caches: bool) -> Iterator[Sequence[Pair]]:
    if not caches:
        return ((pair,) for pair in pairs)
    return (list(members) for _, members in itertools.groupby(pairs, key=lambda pair: pair[1].prompt_hash))
