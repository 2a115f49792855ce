"""The order in which work is handed out, checked on a clock of its own."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.sandbox.longest_first import Agenda, longest_first


def simulated(kinds: Sequence[str], seconds: Mapping[str, float], workers: int) -> tuple[list[int], float]:
    """The places in the order in which they were begun, and when the last one ended."""
    now = 0.0
    agenda = Agenda(kinds, clock=lambda: now)
    begun: list[int] = []
    at_work: list[tuple[float, int, ExitStack]] = []

    def begin() -> None:
        stack = ExitStack()
        place = stack.enter_context(agenda.next())
        begun.append(place)
        heapq.heappush(at_work, (now + seconds[kinds[place]], place, stack))

    for _ in range(min(workers, len(kinds))):
        begin()
    while at_work:
        now, _, stack = heapq.heappop(at_work)
        stack.close()
        if len(begun) < len(kinds):
            begin()
    return begun, now


def test_unknown_kinds_come_first_and_then_the_longest() -> None:
    kinds = ["short", "long", "middle"] * 2
    begun, _ = simulated(kinds, {"short": 1, "middle": 2, "long": 9}, workers=1)
    assert begun == [0, 1, 2, 4, 5, 3]


def test_what_is_still_in_work_counts_by_the_time_it_has_taken() -> None:
    kinds = ["long", "short", "short", "short", "long"]
    begun, end = simulated(kinds, {"long": 10, "short": 1}, workers=2)
    assert begun == [0, 1, 4, 2, 3]  # the second long one begins while the first is at work
    assert end == 12


def test_no_worker_ends_alone_for_minutes() -> None:
    """Four runs of 28 questions, one of which takes most of the time, as the published ones do."""
    names = [f"question {number}" for number in range(28)]
    seconds = dict.fromkeys(names, 0.5) | {names[3]: 70.0, names[10]: 14.0}
    kinds = names * 4
    _, end = simulated(kinds, seconds, workers=2)
    least = sum(seconds[kind] for kind in kinds) / 2
    assert end < 1.02 * least


@given(st.lists(st.sampled_from("abcd"), max_size=20), st.integers(1, 4))
def test_every_item_is_done_once_and_no_bound_is_passed(kinds: list[str], workers: int) -> None:
    """Graham's bound for any order of handing out: the mean load and one item more."""
    seconds = {"a": 1.0, "b": 2.0, "c": 5.0, "d": 20.0}
    begun, end = simulated(kinds, seconds, workers)
    assert sorted(begun) == list(range(len(kinds)))
    work = [seconds[kind] for kind in kinds]
    assert end <= sum(work) / workers + max(work, default=0.0)


@given(st.lists(st.sampled_from("abcd"), max_size=20), st.integers(1, 4))
def test_results_carry_their_places(kinds: list[str], workers: int) -> None:
    found = dict(longest_first(lambda place: (place, kinds[place]), kinds, workers))
    assert found == {place: (place, kind) for place, kind in enumerate(kinds)}


def test_as_many_at_a_time_as_there_are_workers() -> None:
    barrier = threading.Barrier(3, timeout=20)
    assert len(list(longest_first(lambda _: barrier.wait(), ["a"] * 6, workers=3))) == 6


def test_a_failure_ends_what_has_not_begun() -> None:
    done: list[int] = []

    def work(place: int) -> None:
        done.append(place)
        if place == 2:
            raise ValueError("no more")
        if place > 2:
            time.sleep(0.2)  # the reader needs a moment to see the failure

    with pytest.raises(ValueError, match="no more"):
        list(longest_first(work, list("abcdefgh"), workers=1))
    assert len(done) < 8


def test_a_reader_that_stops_ends_what_has_not_begun() -> None:
    done: list[int] = []
    going_on = threading.Event()

    def work(place: int) -> None:
        done.append(place)
        if place == 1:
            going_on.wait(20)

    results = longest_first(work, list("abcdefgh"), workers=1)
    next(results)
    threading.Timer(0.2, going_on.set).start()
    results.close()  # type: ignore[attr-defined]
    assert len(done) < 8
