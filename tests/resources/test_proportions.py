"""Intervals of proportions against SciPy, identities and a simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from resources.proportions import clustered_interval, wilson_interval


@settings(deadline=None)
@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(counts: tuple[int, int]) -> None:
    right, count = counts
    low, high = wilson_interval(right / count, count)
    theirs = binomtest(right, count).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=2, max_size=60).filter(lambda values: 0 < sum(values) < len(values)))
def test_clusters_of_one_differ_from_wilson_only_by_the_small_sample_factor(values: list[bool]) -> None:
    count, mean = len(values), sum(values) / len(values)
    expected = wilson_interval(mean, count - 1)
    assert clustered_interval([float(value) for value in values], range(count)) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=3, max_size=40).filter(lambda values: 0 < sum(values) < len(values)))
def test_a_question_asked_five_times_over_counts_once(values: list[bool]) -> None:
    """Five copies of each value in one cluster say no more than one of each."""
    copies = [float(value) for value in values for _ in range(5)]
    clusters = [n for n in range(len(values)) for _ in range(5)]
    alone = clustered_interval([float(value) for value in values], range(len(values)))
    assert clustered_interval(copies, clusters) == pytest.approx(alone, abs=1e-9)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Simulated: 60 objects with 5 questions each, difficulty varying from object to object."""
    draw = np.random.default_rng(1)
    held = naive = 0
    for _ in range(1000):
        ease = draw.beta(2, 1, size=60)  # mean 2/3
        right = draw.random((60, 5)) < ease[:, None]
        values = right.ravel().astype(float).tolist()
        low, high = clustered_interval(values, np.repeat(np.arange(60), 5).tolist())
        held += low <= 2 / 3 <= high
        low, high = wilson_interval(right.mean(), 300)
        naive += low <= 2 / 3 <= high
    assert 0.93 < held / 1000 < 0.97
    assert naive / 1000 < 0.90


def test_all_right_is_no_certainty() -> None:
    low, high = clustered_interval([1.0] * 50, [n // 5 for n in range(50)])
    assert (low, high) == wilson_interval(1.0, 10)
    assert low < 0.75
