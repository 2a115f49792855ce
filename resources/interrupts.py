"""Ctrl-C and SIGTERM that arrive where Python drops exceptions."""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS_LATER = 0.1


@contextmanager
def repeated_when_lost(*also: type[BaseException]) -> Iterator[None]:
    """Repeats an interrupt that was lost, until it is raised where it ends what is running.

    A signal's handler may run within a callback of the garbage collector or a finalizer; whatever it raises there,
    KeyboardInterrupt or one of `also`, Python only reports. It is not reported then, but sent again a moment later.
    """
    before = sys.unraisablehook
    interrupts: tuple[type[BaseException], ...] = (KeyboardInterrupt, *also)
    repetitions: list[threading.Timer] = []

    def hook(lost: sys.UnraisableHookArgs, /) -> None:
        if issubclass(lost.exc_type, interrupts):
            repetitions.append(threading.Timer(SECONDS_LATER, _thread.interrupt_main))
            repetitions[-1].start()
        else:
            before(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
        for repetition in repetitions:
            repetition.cancel()
