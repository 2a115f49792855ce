"""Several models asked at the same time, for callers without an event loop."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import Any, TypeVar

Item = TypeVar("Item")


def side_by_side(runs: Sequence[AsyncGenerator[Item, None]]) -> Iterator[Item]:
    """What all runs give, as it comes. Ending the iteration early, or Ctrl-C, cancels what is under way."""
    with asyncio.Runner() as runner:
        items = _merged(runs)
        try:
            while True:
                try:
                    item = _run(runner, _next(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            # What is answered is recorded, however often Ctrl-C is pressed meanwhile.
            with _handling(lambda: None), suppress(RuntimeError):
                runner.run(items.aclose())


def _run(runner: asyncio.Runner, step: Coroutine[Any, Any, Item]) -> Item:
    """`step` to its end. Ctrl-C or SIGTERM cancels it where it waits and is passed on when it has ended.

    Raised where it happens to arrive, in the middle of the loop's own code, it would be lost there.
    """
    pressed = threading.Event()
    running: list[asyncio.Task[Any]] = []

    def press() -> None:
        if pressed.is_set():
            return
        pressed.set()
        for task in running:
            task.get_loop().call_soon_threadsafe(task.cancel)

    async def cancellable() -> Item:
        task = asyncio.current_task()
        assert task is not None
        running.append(task)
        return await step

    try:
        with _handling(press):
            return runner.run(cancellable())
    finally:
        if pressed.is_set():
            # To whoever was to hear it; where that raises nothing at once, this does.
            signal.raise_signal(signal.SIGINT)
            raise KeyboardInterrupt


@contextmanager
def _handling(press: Any) -> Iterator[None]:
    """`press` is called at Ctrl-C and SIGTERM instead of what else would be; only the main thread hears of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: press()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
