"""How fast requests may start: a rate that is found by trying, as network congestion control does.

A run begins gently and doubles its rate several times a second until the provider rejects a request. Then the rate
falls to a little less than what the provider accepted, all starts pause for as long as the provider asks, and the
rate creeps up again. The state is a plain value: one process keeps it in memory, several share it in the ledger.
Times are seconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from resources.llm.retry import LONGEST_WAIT_SECONDS

FIRST_RATE = 64.0
DOUBLING_SECONDS = 0.125
# Faster than any single process starts requests: from here on the rate is no limit.
NO_LIMIT = 4_096.0
AFTER_REJECTION = 0.93
STEEPEST_FALL = 0.3
GROWTH_PER_SECOND = 1.015
SLOWEST_RATE = 1 / 60
PAUSE_WITHOUT_ADVICE = 0.5
# A rate that was learnt longer ago says little.
FORGET_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The state of one provider's limit.

    `rate` is starts per second; `next_start` is when the next may start; `paused_until` holds all back.
    `rejected_at` is the time of the last fall, 0 when there was none; since then `started` requests were started,
    the first at `first_start`, and `rejected` of them rejected. `ceiling` is a known limit (starts per second),
    `tokens_per_second` likewise, both from the entry.
    """

    rate: float = FIRST_RATE
    next_start: float = 0.0
    paused_until: float = 0.0
    rejected_at: float = 0.0
    started: int = 0
    rejected: int = 0
    first_start: float = 0.0
    grown_at: float = 0.0
    next_token_start: float = 0.0
    ceiling: float | None = None
    tokens_per_second: float | None = None

    @property
    def is_limited(self) -> bool:
        """True when processes need to share this: a limit is known or was met."""
        return self.ceiling is not None or self.tokens_per_second is not None or self.rejected_at > 0


def take(pace: Pace, now: float, count: int = 1, tokens: float = 0.0) -> tuple[Pace, float, float]:
    """Reserve `count` starts that need `tokens` together.

    Returns the new state, the time of the first start and the seconds between two.
    """
    pace = _grown(pace, now)
    begin = max(now, pace.next_start, pace.paused_until)
    if pace.tokens_per_second is not None:
        begin = max(begin, pace.next_token_start)
        pace = replace(pace, next_token_start=begin + tokens / pace.tokens_per_second)
    gap = 0.0 if pace.rate >= NO_LIMIT else 1 / pace.rate
    first = pace.first_start or begin
    pace = replace(pace, next_start=begin + count * gap, started=pace.started + count, first_start=first)
    return pace, begin, gap


def reject(pace: Pace, now: float, started_at: float, retry_after: float | None) -> Pace:
    """A request that started at `started_at` was told to slow down.

    Rejections of requests from before the last fall are the same event and change nothing but the pause.
    """
    pause = PAUSE_WITHOUT_ADVICE if retry_after is None else min(retry_after, LONGEST_WAIT_SECONDS)
    pace = replace(pace, rejected=pace.rejected + 1)
    if started_at <= pace.rejected_at:
        return pace
    # Over less than a second a provider's allowance for bursts would pass for its rate.
    elapsed = max(now - pace.first_start, 1.0)
    accepted, tried = max(pace.started - pace.rejected, 0) / elapsed, pace.started / elapsed
    rate = min(AFTER_REJECTION * max(accepted, STEEPEST_FALL * tried), AFTER_REJECTION * pace.rate)
    until = max(pace.paused_until, now + pause)
    return replace(
        pace,
        rate=max(rate, SLOWEST_RATE),
        next_start=until,
        paused_until=until,
        rejected_at=now,
        started=0,
        rejected=0,
        first_start=0.0,
        grown_at=until,
    )


def hold(pace: Pace, until: float) -> Pace:
    """No start before `until`: the provider said that nothing is left of its budget until then."""
    return replace(pace, paused_until=max(pace.paused_until, until))


def _grown(pace: Pace, now: float) -> Pace:
    if pace.grown_at == 0.0:
        return replace(pace, grown_at=now, rate=min(pace.rate, pace.ceiling or pace.rate))
    seconds = now - pace.grown_at
    if seconds <= 0:
        return pace
    factor = GROWTH_PER_SECOND**seconds if pace.rejected_at else 2.0 ** min(seconds / DOUBLING_SECONDS, 100.0)
    return replace(pace, grown_at=now, rate=min(pace.rate * factor, pace.ceiling or NO_LIMIT))
