"""Ctrl-C or SIGTERM while models are asked side by side: heard once, lost never, and no half-done cleanup."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator
from types import FrameType

import pytest

from resources.llm.side_by_side import side_by_side

INT, TERM = signal.SIGINT, signal.SIGTERM


class Heard(Exception):
    """What another's handler raises, as Dagster's does."""


async def counting(done: list[str], *presses: signal.Signals) -> AsyncGenerator[int, None]:
    try:
        yield 1
        for number in presses:
            signal.raise_signal(number)
        await asyncio.sleep(60)
        yield 2
    finally:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.01)
        done.append("cleaned up")


@pytest.mark.parametrize("presses", [(INT,), (INT, INT, INT), (TERM,), (TERM, INT)])
def test_it_is_passed_on_after_the_cleanup(presses: tuple[signal.Signals, ...]) -> None:
    done: list[str] = []
    before = [signal.getsignal(number) for number in (INT, TERM)]
    with pytest.raises(KeyboardInterrupt):
        list(side_by_side([counting(done, *presses), counting(done)]))
    assert [signal.getsignal(number) for number in (INT, TERM)] == before
    assert done == ["cleaned up", "cleaned up"]


def test_anothers_handler_hears_it() -> None:
    def hear(_number: int, _frame: FrameType | None) -> None:
        raise Heard

    done: list[str] = []
    before = signal.signal(signal.SIGINT, hear)
    try:
        with pytest.raises(Heard):
            list(side_by_side([counting(done, INT)]))
    finally:
        assert signal.signal(signal.SIGINT, before) is hear
    assert done == ["cleaned up"]


def test_without_it_everything_is_given() -> None:
    async def numbers(*values: int) -> AsyncGenerator[int, None]:
        for value in values:
            await asyncio.sleep(0)
            yield value

    assert sorted(side_by_side([numbers(1, 2), numbers(), numbers(3)])) == [1, 2, 3]
