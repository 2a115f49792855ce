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
# Starts that came late, because the program was busy, are made up for, but not more than this.
CATCH_UP_SECONDS = 0.25
# A fall goes a little below what was accepted, so that the next rejection is far.
AFTER_REJECTION = 0.93
GROWTH_PER_SECOND = 1.015
# Far below a rate that was known to be good, as after an outage, growth is fast.
RECOVERY_PER_SECOND = 1.2
# Fewer accepted requests than this are no sign of life, or no measure of a rate.
FEWEST_TO_BELIEVE = 2
FEWEST_TO_MEASURE = 20
SLOWEST_RATE = 0.05
PAUSE_WITHOUT_ADVICE = 1.0
LONGEST_PAUSE_WITHOUT_ADVICE = 30.0
# A rate that was learnt longer ago says little.
FORGET_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The state of one provider's limit.

    `rate` is starts per second; `next_start` is when the next may start; `paused_until` holds all back.
    `rejected_at` is the time of the last fall, 0 when there was none; since then `started` requests were started,
    the first at `first_start`. `good` is the last rate that was measured, 0 before; `blocked` counts falls in a row
    at which nothing was accepted. `ceiling` is a known limit (starts per second), `tokens_per_second` likewise, both
    from the entry.
    """

    rate: float = FIRST_RATE
    next_start: float = 0.0
    paused_until: float = 0.0
    rejected_at: float = 0.0
    started: int = 0
    first_start: float = 0.0
    grown_at: float = 0.0
    good: float = 0.0
    blocked: int = 0
    next_token_start: float = 0.0
    ceiling: float | None = None
    tokens_per_second: float | None = None

    @property
    def is_limited(self) -> bool:
        """True when processes need to share this: a limit is known or was met."""
        return self.ceiling is not None or self.tokens_per_second is not None or self.rejected_at > 0


def take(pace: Pace, now: float, count: int = 1, tokens: float = 0.0) -> tuple[Pace, Start, float]:
    """Reserve `count` starts that need `tokens` together.

    Returns the new state, the first start and the seconds between two.
    """
    pace = _grown(pace, now)
    begin = max(now - CATCH_UP_SECONDS, pace.next_start, pace.paused_until)
    if pace.tokens_per_second is not None:
        begin = max(begin, pace.next_token_start)
        pace = replace(pace, next_token_start=begin + tokens / pace.tokens_per_second)
    gap = 0.0 if pace.rate >= NO_LIMIT else 1 / pace.rate
    first = pace.first_start or begin
    pace = replace(pace, next_start=begin + count * gap, started=pace.started + count, first_start=first)
    return pace, Start(begin, pace.started - count + 1), gap


@dataclass(frozen=True, slots=True)
class Start:
    """A request's start: the time, and its number since the last fall."""

    at: float
    number: int


def reject(pace: Pace, now: float, start: Start, retry_after: float | None) -> Pace:
    """The request of `start` was told to slow down.

    When others were accepted before it, the rate was a little too high and what was accepted is the measure of it.
    When none were, no rate would do: the pauses double, and the rate only halves. Rejections of requests from before
    the last fall are the same event and change nothing.
    """
    if start.at <= pace.rejected_at:
        return pace
    # What started later is still on its way.
    accepted = start.number - 1
    if accepted >= FEWEST_TO_BELIEVE:
        rate = min(_measured(pace, start, accepted), AFTER_REJECTION * pace.rate)
        pace = replace(pace, rate=rate, good=rate, blocked=0)
    else:
        pace = replace(pace, rate=pace.rate / 2, blocked=pace.blocked + 1)
    pause = min(PAUSE_WITHOUT_ADVICE * 2.0 ** min(pace.blocked, 20), LONGEST_PAUSE_WITHOUT_ADVICE)
    if retry_after is not None:
        pause = min(retry_after, LONGEST_WAIT_SECONDS)
    until = max(pace.paused_until, now + pause)
    return replace(
        pace,
        rate=max(pace.rate, SLOWEST_RATE),
        next_start=until,
        paused_until=until,
        rejected_at=now,
        started=0,
        first_start=0.0,
        grown_at=until,
    )


def _measured(pace: Pace, start: Start, accepted: int) -> float:
    """The rate that the provider seems to allow; not above the present one without reason."""
    # Over less than a second a provider's allowance for bursts would pass for its rate.
    elapsed = max(start.at - pace.first_start, 1.0)
    if pace.good and start.number / elapsed < pace.rate / 2:
        # There was less to start than the rate allowed, so the rate is hardly what was rejected.
        return AFTER_REJECTION * pace.rate
    if accepted < FEWEST_TO_MEASURE:
        return pace.rate / 2
    return max(AFTER_REJECTION * accepted / elapsed, pace.rate / 2 if pace.good else 0.0)


def hold(pace: Pace, until: float) -> Pace:
    """No start before `until`: the provider said that nothing is left of its budget until then."""
    return replace(pace, paused_until=max(pace.paused_until, until))


def _grown(pace: Pace, now: float) -> Pace:
    if pace.grown_at == 0.0:
        return replace(pace, grown_at=now, rate=min(pace.rate, pace.ceiling or pace.rate))
    seconds = now - pace.grown_at
    if seconds <= 0:
        return pace
    if not pace.rejected_at:
        factor = 2.0 ** min(seconds / DOUBLING_SECONDS, 100.0)
    else:
        known_good = pace.good and pace.rate >= AFTER_REJECTION * pace.good
        factor = (GROWTH_PER_SECOND if known_good else RECOVERY_PER_SECOND) ** min(seconds, 100.0)
    return replace(pace, grown_at=now, rate=min(pace.rate * factor, pace.ceiling or NO_LIMIT))
