"""Several models asked at the same time, for callers without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import TypeVar

Item = TypeVar("Item")


def side_by_side(runs: Sequence[AsyncGenerator[Item, None]]) -> Iterator[Item]:
    """What all runs give, as it comes. Ending the iteration early, or an interruption, cancels what is under way."""
    with asyncio.Runner() as runner:
        items = _merged(runs)
        try:
            while True:
                try:
                    item = runner.run(_next(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            # Interrupted while it waits, the generator cannot be closed; the runner then cancels what is under way.
            with suppress(RuntimeError):
                runner.run(items.aclose())


async def _next(items: AsyncGenerator[Item, None]) -> Item:
    return await anext(items)


async def _merged(runs: Sequence[AsyncGenerator[Item, None]]) -> AsyncGenerator[Item, None]:
    found: asyncio.Queue[tuple[Item] | None] = asyncio.Queue()

    async def drain(run: AsyncGenerator[Item, None]) -> None:
        try:
            async with aclosing(run):
                async for item in run:
                    found.put_nowait((item,))
        finally:
            found.put_nowait(None)

    tasks = [asyncio.create_task(drain(run)) for run in runs]
    try:
        running = len(tasks)
        while running:
            boxed = await found.get()
            if boxed is None:
                running -= 1
            else:
                yield boxed[0]
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
