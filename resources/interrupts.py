"""Ctrl-C and SIGTERM that arrive where Python drops exceptions."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS_LATER = 0.1
INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended, as shells have it."""


def stopped() -> int:
    """Says that the command was stopped and gives its exit status; an impatient Ctrl-C from now on changes neither."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("stopped; what is finished is kept, run again to go on", file=sys.stderr)
    return INTERRUPTED


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
