"""Work in threads, what takes longest first, so that at the end no thread works alone for minutes.

How long an item takes is learnt on the way: items of one kind, such as answers to one question, take similarly long.
What is longest first: Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17 (1969) 416.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


class Agenda:
    """Hands out the places of items, by their kinds; safe for several threads.

    First comes a kind that has not begun, to learn how long it takes, then the kind that takes longest by what was seen
    so far: by items that are done and by those still in work. Equals go in their order. `clock` gives seconds.
    """

    def __init__(self, kinds: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._kinds, self._clock = kinds, clock
        self._seconds: dict[str, float] = {}
        self._lock = threading.Lock()
        self._begun: dict[int, float] = {}
        self._waiting: dict[str, deque[int]] = {}
        for place, kind in enumerate(kinds):
            self._waiting.setdefault(kind, deque()).append(place)

    @contextmanager
    def next(self) -> Iterator[int]:
        """The place of the item to do now, inside a `with` that lasts as long as the work on it."""
        with self._lock:
            place = self._take()
        try:
            yield place
        finally:
            with self._lock:
                kind, seconds = self._kinds[place], self._clock() - self._begun.pop(place)
                self._seconds[kind] = max(seconds, self._seconds.get(kind, 0.0))

    def _take(self) -> int:
        now = self._clock()
        seen = dict(self._seconds)
        for place, begun in self._begun.items():
            kind = self._kinds[place]
            seen[kind] = max(now - begun, seen.get(kind, 0.0))
        longest = max(self._waiting, key=lambda kind: seen.get(kind, float("inf")))
        place = self._waiting[longest].popleft()
        if not self._waiting[longest]:
            del self._waiting[longest]
        self._begun[place] = now
        return place


def longest_first(work: Callable[[int], Result], kinds: Sequence[str], workers: int) -> Iterator[tuple[int, Result]]:
    """`work(place)` for every place of `kinds`, `workers` at a time: places and results as they come.

    The first failure ends what has not begun and is raised.
    """
    agenda = Agenda(kinds)

    def do_next() -> tuple[int, Result]:
        with agenda.next() as place:
            return place, work(place)

    with ThreadPoolExecutor(workers) as threads:
        futures = [threads.submit(do_next) for _ in kinds]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            threads.shutdown(cancel_futures=True)
