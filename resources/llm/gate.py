"""The gate that every request of one model passes: so many at once, so many a second, none while we are to wait."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from resources.llm.group_commit import GroupCommit
from resources.llm.ledger import Ledger
from resources.llm.pacing import Pace, Start, hold, reject, take
from resources.model_entry import ModelEntry

FALL_OF_CONCURRENCY = 0.7
# Starts are drawn from the shared pace in portions, so that the ledger is asked a few times a second.
PORTION_SECONDS = 0.25


class Gate:
    """Adaptive concurrency up to the entry's, and a pace that is shared with other processes once there is a limit.

    Concurrency falls when the provider says to slow down and rises by one for every full round of replies.
    """

    def __init__(self, entry: ModelEntry, ledger: Ledger, commits: GroupCommit) -> None:
        self._key = f"{entry.endpoint} {entry.model}"
        self._ledger, self._commits = ledger, commits
        per_second = None if entry.requests_per_minute is None else entry.requests_per_minute / 60
        tokens = None if entry.tokens_per_minute is None else entry.tokens_per_minute / 60
        self._pace = Pace(ceiling=per_second, tokens_per_second=tokens)
        self._most = entry.max_concurrency
        self._limit = float(self._most)
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._turn = asyncio.Lock()
        self._portion: deque[Start] = deque()
        self._sharing: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Begin from what other processes, or the last run, found out a short while ago."""

        def learn(stored: Pace | None) -> tuple[Pace, Pace]:
            known = self._with_own_ceilings(stored or self._pace)
            return known, known

        self._pace = await self._commits.call(self._ledger.adjust_pace, self._key, learn)

    async def close(self) -> None:
        """Wait until what was learnt is in the ledger."""
        await asyncio.gather(*self._sharing, return_exceptions=True)

    async def enter(self, tokens: float) -> Start:
        """Wait for a place and a start for a request of about `tokens`."""
        await self._place()
        try:
            async with self._turn:
                while True:
                    start = await self._start(tokens)
                    if (wait := start.at - time.time()) > 0:
                        await asyncio.sleep(wait)
                    # A rejection may have come while this one waited.
                    if (now := time.time()) >= self._pace.paused_until:
                        return Start(now, start.number)
        except BaseException:
            self.leave()
            raise

    def leave(self, *, replied: bool = False) -> None:
        """Give the place back; `replied` when the provider took the request."""
        self._inside -= 1
        if replied and self._limit < self._most:
            self._limit = min(self._limit + 1 / self._limit, float(self._most))
        while self._waiting and self._inside < int(self._limit):
            waiting = self._waiting.popleft()
            if not waiting.done():
                self._inside += 1
                waiting.set_result(None)

    def slow_down(self, start: Start, retry_after: float | None) -> None:
        """The provider rejected the request of `start`."""
        now = time.time()
        if start.at > self._pace.rejected_at:
            self._limit = max(1.0, FALL_OF_CONCURRENCY * min(self._limit, self._inside))
        self._portion.clear()
        # At once for this process; the shared state, which may know of other rejections, follows.
        self._pace = reject(self._pace, now, start, retry_after)
        own = self._pace

        def share(stored: Pace | None) -> tuple[Pace, Pace]:
            if stored is None or not stored.is_limited or stored.rejected_at == 0:
                return own, own
            shared = reject(stored, now, start, retry_after)
            return shared, shared

        self._share(share)

    def hold_until(self, until: float) -> None:
        """The provider's headers say that its budget is empty until then."""
        if until > self._pace.paused_until:
            self._portion.clear()
            self._pace = hold(self._pace, until)

    async def _place(self) -> None:
        if self._inside < int(self._limit) and not self._waiting:
            self._inside += 1
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():
                self.leave()
            raise

    async def _start(self, tokens: float) -> Start:
        if not self._pace.is_limited:
            self._pace, start, _ = take(self._pace, time.time())
            return start
        if not self._portion:
            portion = 1 if self._pace.tokens_per_second else max(1, int(self._pace.rate * PORTION_SECONDS))

            def draw(stored: Pace | None) -> tuple[Pace, tuple[Pace, Start, float]]:
                pace = self._with_own_ceilings(stored if stored and stored.is_limited else self._pace)
                pace, first, gap = take(pace, time.time(), portion, tokens)
                return pace, (pace, first, gap)

            self._pace, first, gap = await self._commits.call(self._ledger.adjust_pace, self._key, draw)
            self._portion.extend(Start(first.at + i * gap, first.number + i) for i in range(portion))
        return self._portion.popleft()

    def _share(self, change: Callable[[Pace | None], tuple[Pace, Pace]]) -> None:
        async def write() -> None:
            self._pace = await self._commits.call(self._ledger.adjust_pace, self._key, change)

        task = asyncio.create_task(write())
        self._sharing.add(task)
        task.add_done_callback(self._sharing.discard)

    def _with_own_ceilings(self, pace: Pace) -> Pace:
        return replace(pace, ceiling=self._pace.ceiling, tokens_per_second=self._pace.tokens_per_second)


@dataclass(slots=True)
class Place:
    """One request's place in the gate; `start` is when it entered, None when it did not."""

    gate: Gate
    start: Start | None
    replied: bool = False

    def leave(self) -> None:
        """Give it to the next, once."""
        if self.start is not None:
            self.gate.leave(replied=self.replied)
            self.start = None
