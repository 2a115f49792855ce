"""Many requests, few transactions: what arrives while one transaction is written goes into the next.

Nobody gets an answer before it is committed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from resources.llm.budget import Budget
from resources.llm.ledger import Ledger
from resources.llm.records import Claim, Exchange, Opening, Settlement

T = TypeVar("T")
# Between two transactions: each costs about as much as storing ten answers does.
INTERVAL_SECONDS = 0.04


class GroupCommit:
    """The asynchronous side of a ledger for one owner; used as an asynchronous context.

    When the ledger cannot be written, every waiting call and every later one raises LedgerError.
    """

    def __init__(self, ledger: Ledger, owner: str, budget: Budget) -> None:
        self._ledger, self._owner, self._budget = ledger, owner, budget
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._batch = Exchange()
        self._settled: list[asyncio.Future[None]] = []
        self._claimed: list[asyncio.Future[Claim]] = []
        self._work = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._broken: BaseException | None = None

    async def __aenter__(self) -> GroupCommit:
        self._writer = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_error: object) -> None:
        """What was settled is written before the claims are given up."""
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        if self._broken is None:
            if self._settled or self._claimed:
                await self._flush()
            await self.call(self._ledger.release, self._owner)
        self._thread.shutdown()

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Another use of the ledger, in its thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def claim(self, opening: Opening) -> asyncio.Future[Claim]:
        """Ask for a claim; the future has the ledger's word."""
        future: asyncio.Future[Claim] = self._add(self._batch.openings, opening, self._claimed)
        return future

    def settle(self, settlement: Settlement) -> asyncio.Future[None]:
        """Record what became of a request; the future is done once it is committed."""
        future: asyncio.Future[None] = self._add(self._batch.settlements, settlement, self._settled)
        return future

    def _add(self, items: list[Any], item: Any, futures: list[Any]) -> Any:
        future = asyncio.get_running_loop().create_future()
        if self._broken is not None:
            future.set_exception(self._broken)
            return future
        items.append(item)
        futures.append(future)
        self._work.set()
        return future

    async def _write(self) -> None:
        last = 0.0
        while self._broken is None:
            await self._work.wait()
            await asyncio.sleep(max(0.0, last + INTERVAL_SECONDS - time.monotonic()))
            last = time.monotonic()
            # A transaction under way is finished even when the run is stopped.
            await asyncio.shield(self._flush())

    async def _flush(self) -> None:
        batch, settled, claimed = self._batch, self._settled, self._claimed
        self._batch, self._settled, self._claimed = Exchange(), [], []
        self._work.clear()
        try:
            claims = await self.call(self._ledger.exchange, self._owner, batch, self._budget)
        except BaseException as error:
            self._broken = error
            waiting: list[asyncio.Future[Any]] = [*settled, *claimed]
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for written in settled:
            if not written.done():
                written.set_result(None)
        for asked, word in zip(claimed, claims, strict=True):
            if not asked.done():
                asked.set_result(word)
