"""Waits: what providers write into headers, and how long we wait on our own."""

from __future__ import annotations

import pytest

from resources.llm.outcome import Failure
from resources.llm.retry import LONGEST_WAIT_SECONDS, RetryPolicy, exhausted_for, retry_after
from resources.outcomes import Status

NOW = 1_445_412_480.0  # Wed, 21 Oct 2015 07:28:00 GMT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, None),
        ({"retry-after": "nonsense"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after-ms": "inf"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("remaining", "reset", "seconds"),
    [
        ("0", "6m0s", 120.0),
        ("0", "20ms", 0.02),
        ("0", "1m1.5s", 61.5),
        ("0", "?", None),
        ("3", "1s", None),
        ("0", "", None),
    ],
)
def test_openai_says_when_its_budget_is_empty(remaining: str, reset: str, seconds: float | None) -> None:
    headers = {"x-ratelimit-remaining-tokens": remaining, "x-ratelimit-reset-tokens": reset}
    assert exhausted_for(headers, NOW) == (None if seconds is None else pytest.approx(seconds))


def test_anthropic_says_when_its_budget_is_empty() -> None:
    headers = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2015-10-21T07:28:12Z",
    }
    assert exhausted_for(headers, NOW) == pytest.approx(12.0)


def test_waits_double_up_to_a_bound_and_end() -> None:
    policy = RetryPolicy(errors=8, first_wait=1.0, longest_wait=8.0)
    broken = Failure(Status.PROVIDER_ERROR, "it broke", retry=True)
    for errors, longest in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (7, 8)]:
        wait = policy.wait(broken, errors, 0)
        assert wait is not None
        assert longest / 2 <= wait <= longest
    assert policy.wait(broken, 8, 0) is None
    assert policy.wait(Failure(Status.PROVIDER_ERROR, "bad request"), 1, 0) is None


def test_an_insane_wait_is_not_kept() -> None:
    failure = Failure(Status.PROVIDER_ERROR, "later", retry=True, retry_after=4_294_967_295.0)
    assert RetryPolicy().wait(failure, 1, 0) == LONGEST_WAIT_SECONDS
