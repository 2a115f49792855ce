"""When a failed try is made again, and after how long. Fixed beforehand and blind to what the answer scores."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from resources.llm.outcome import Failure

# Providers have sent waits of years; beyond this ours is as good a guess.
LONGEST_WAIT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`errors` tries for what broke, `rejections` for being told to slow down; the waits double from `first_wait`.

    A rejection costs nothing and says nothing about the request, so it is tried far more often. A whole try, its
    streaming included, may take `try_seconds`. A run stops asking after `failures_in_a_row` requests without a reply.
    """

    errors: int = 6
    rejections: int = 60
    first_wait: float = 0.5
    longest_wait: float = 30.0
    try_seconds: float = 1_800.0
    failures_in_a_row: int = 20

    def wait(self, failure: Failure, errors: int, rejections: int) -> float | None:
        """Seconds until the next try after `errors` and `rejections` so far, this one counted; None: give up."""
        if not failure.retry or errors >= self.errors or rejections >= self.rejections:
            return None
        if failure.retry_after is not None:
            return min(failure.retry_after, LONGEST_WAIT_SECONDS)
        tries = rejections if failure.slow_down else errors
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(tries - 1, 20))
        return longest * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date; else None."""
    try:
        if "retry-after-ms" in headers:
            return _sane(float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return _sane(float(value))
        return _sane(parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def exhausted_for(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until the budget is filled again when the headers say that nothing is left of it; else None."""
    waits = [
        wait
        for remaining, reset in _BUDGET_HEADERS
        if headers.get(remaining) == "0" and (wait := _until(headers.get(reset, ""), now)) is not None
    ]
    return min(max(waits), LONGEST_WAIT_SECONDS) if waits else None


_BUDGET_HEADERS = tuple(
    pair
    for what in ("requests", "tokens")
    for pair in (
        (f"x-ratelimit-remaining-{what}", f"x-ratelimit-reset-{what}"),
        (f"anthropic-ratelimit-{what}-remaining", f"anthropic-ratelimit-{what}-reset"),
    )
)


def _until(reset: str, now: float) -> float | None:
    """OpenAI writes durations such as `6m0s` or `20ms`, Anthropic a time."""
    if "T" in reset:
        try:
            moment = datetime.fromisoformat(reset)
        except ValueError:
            return None
        return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)
    seconds, number = 0.0, ""
    rest = reset.replace("ms", "u")
    for letter in rest:
        if letter.isdigit() or letter == ".":
            number += letter
        elif letter in _UNITS and number:
            seconds += float(number) * _UNITS[letter]
            number = ""
        else:
            return None
    return seconds if rest and not number else None


_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "u": 0.001}


def _sane(seconds: float) -> float | None:
    return seconds if 0 <= seconds < float("inf") else None
