"""Interrupts that arrive where Python drops them, and those that are somebody else's business."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from resources.interrupts import repeated_when_lost


class Stopped(BaseException):
    """What a handler of somebody's own raises."""


class Finalized:
    """Gets a signal in its finalizer."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def in_a_callback_of_the_collector() -> None:
    sent: list[str] = []

    def callback(phase: str, _info: dict[str, int]) -> None:
        if not sent:
            sent.append(phase)
            signal.raise_signal(signal.SIGINT)

    gc.callbacks.append(callback)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(callback)
    assert sent


def in_a_finalizer() -> None:
    Finalized()


def run_on(lose: Callable[[], None]) -> None:
    lose()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.01)


@contextmanager
def handler(handle: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("lose", [in_a_callback_of_the_collector, in_a_finalizer])
def test_a_lost_interrupt_still_ends_what_runs(lose: Callable[[], None]) -> None:
    with handler(signal.default_int_handler), repeated_when_lost(), pytest.raises(KeyboardInterrupt):
        run_on(lose)


def test_so_does_an_exception_of_a_handler_of_ones_own() -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    with handler(stop), repeated_when_lost(Stopped), pytest.raises(Stopped):
        run_on(in_a_callback_of_the_collector)


def test_other_exceptions_are_reported_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type.__name__))

    class Broken:
        def __del__(self) -> None:
            raise ArithmeticError

    with repeated_when_lost():
        Broken()
    assert reported == ["ArithmeticError"]
    Broken()
    assert reported == ["ArithmeticError"] * 2
