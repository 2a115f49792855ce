"""The pace against simulated limits, without waiting: time is a number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from resources.llm.pacing import Pace, Start, hold, reject, take

START = 1_000_000.0


def token_bucket(per_second: float, burst: float) -> Callable[[float], float | None]:
    """Accepts (None) or rejects with advice in whole seconds, as most providers do."""
    level, last = burst, START

    def ask(now: float) -> float | None:
        nonlocal level, last
        level, last = min(burst, level + (now - last) * per_second), now
        if level < 1:
            return 1.0
        level -= 1
        return None

    return ask


def sliding_window(count: int, seconds: float, advice: float | None) -> Callable[[float], float | None]:
    """Accepts `count` in any `seconds`; without advice, -1 is returned on a rejection."""
    recent: list[float] = []

    def ask(now: float) -> float | None:
        recent[:] = [moment for moment in recent if now - moment < seconds]
        if len(recent) >= count:
            return -1.0 if advice is None else advice
        recent.append(now)
        return None

    return ask


def simulate(limit: Callable[[float], float | None], wanted: int, latency: float = 0.05) -> tuple[float, int]:
    """Start requests until `wanted` are accepted; returns the seconds and the rejections."""
    pace, now, accepted, rejected = Pace(), START, 0, 0
    # (time the word arrives, start, advice); rejections arrive after the latency as well.
    pending: list[tuple[float, Start, float]] = []
    while accepted < wanted:
        pace, start, _ = take(pace, now)
        while pending and pending[0][0] <= start.at:
            arrives, started, advice = pending.pop(0)
            pace = reject(pace, arrives, started, None if advice < 0 else advice)
        now = max(now, start.at)
        if now < pace.paused_until:
            continue
        advice_now = limit(now)
        if advice_now is None:
            accepted += 1
        else:
            rejected += 1
            pending.append((now + latency, Start(now, start.number), advice_now))
    return now - START, rejected


@pytest.mark.parametrize("limit", [token_bucket(40, 40), sliding_window(40, 1, 1.0), sliding_window(40, 1, None)])
def test_forty_a_second_are_found_with_few_rejections(limit: Callable[[float], float | None]) -> None:
    seconds, rejected = simulate(limit, 1_200)
    assert seconds <= 1.3 * 1_200 / 40
    assert rejected <= 0.05 * (1_200 + rejected)


def test_a_slow_limit_is_found_too() -> None:
    seconds, rejected = simulate(sliding_window(60, 60.0, 10.0), 600)
    assert seconds <= 2 * 600
    assert rejected <= 150


def test_no_limit_is_no_brake() -> None:
    seconds, _ = simulate(lambda _now: None, 5_000)
    # Faster than 5,000 requests could be at 64 connections and 50 ms.
    assert seconds < 2.5


def test_an_outage_leaves_the_learnt_rate_within_reach() -> None:
    pace, now = Pace(rate=100.0, good=100.0, rejected_at=START - 100, grown_at=START), START
    for _ in range(5):
        pace, start, _ = take(pace, now)
        pace = reject(pace, start.at, start, None)
        now = pace.paused_until
    assert pace.rate < 10
    pace, _, _ = take(pace, now + 30)
    assert pace.rate > 90


def test_rejections_of_one_burst_are_one_event() -> None:
    pace, first, _ = take(Pace(), START, count=50)
    once = reject(pace, START + 0.1, first, None)
    again = reject(once, START + 0.11, Start(first.at + 0.01, 2), None)
    assert again == once


def test_advice_is_bounded() -> None:
    assert reject(Pace(), START, Start(START, 1), 1e9).paused_until == START + 120


def test_a_known_limit_and_tokens_are_kept() -> None:
    pace, now = Pace(ceiling=2.0, tokens_per_second=100.0), START
    for _ in range(10):
        pace, start, _ = take(pace, now, tokens=100.0)
        now = start.at
    # Nine gaps of one second, the first start being a little overdue: the tokens are what binds.
    assert now - START == pytest.approx(9.0 - 0.25)


def test_an_empty_budget_holds_everything_back() -> None:
    _, start, _ = take(hold(Pace(), START + 7), START)
    assert start.at == START + 7
