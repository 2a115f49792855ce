"""Whether work keeps in proportion, by processor time of one thread: that of other work does not count."""

from __future__ import annotations

import time
from collections.abc import Callable

SHORT, LONG = 4_000, 32_000
# Eight times the length takes about eight times as long; work that grows as the square takes 64 times.
MOST = 24
TRIES = 3


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds that `work` takes."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def in_proportion(read: Callable[[str], object], unit: str, head: str = "", tail: str = "") -> bool:
    """Whether reading `unit` over and over, between `head` and `tail`, takes no longer than the length warrants."""
    short, long = (head + unit * (length // len(unit)) + tail for length in (SHORT, LONG))
    return any(seconds(lambda: read(long)) < MOST * seconds(lambda: read(short)) for _ in range(TRIES))
