"""Cluster intervals against exact enumeration and against SciPy's bootstrap."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from resources.bootstrap import FEWEST, cluster_interval


@pytest.mark.parametrize("clusters", [1, 2, 3, 4])
def test_few_clusters_have_no_interval(clusters: int) -> None:
    """That of two would be the means of the clusters themselves."""
    assert cluster_interval([0.1, 0.5, 0.9] * clusters, [n for n in range(clusters) for _ in range(3)]) is None


def test_unequal_clusters_against_all_resamples() -> None:
    """Five clusters of unequal size: the 3,125 equally likely resamples give the exact quantiles."""
    rng = np.random.default_rng(3)
    sizes = (1, 5, 2, 4, 3)
    groups = [rng.random(size) for size in sizes]
    means = [
        np.concatenate([groups[i] for i in chosen]).mean() for chosen in itertools.product(range(5), repeat=len(groups))
    ]
    exact = np.quantile(means, (0.025, 0.975), method="inverted_cdf")
    clusters = [name for name, size in zip("abcde", sizes, strict=True) for _ in range(size)]
    interval = cluster_interval(np.concatenate(groups).tolist(), clusters, resamples=200_000)
    assert interval == pytest.approx(exact, abs=0.004)


def test_against_scipy() -> None:
    """38 clusters of five, as the benchmark has them; SciPy draws with another seed."""
    rng = np.random.default_rng(11)
    table = np.clip(rng.normal(0.4, 0.2, (38, 1)) + rng.normal(0, 0.1, (38, 5)), 0, 1)
    theirs = bootstrap(
        (table.mean(axis=1),), np.mean, method="percentile", n_resamples=100_000, rng=np.random.default_rng(1)
    )
    ours = cluster_interval(table.ravel().tolist(), np.repeat(np.arange(38), 5).tolist(), resamples=100_000)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.002)


def test_wider_than_independent_problems() -> None:
    """Problems of a category that score alike carry less than their number suggests."""
    table = np.repeat(np.random.default_rng(5).random((38, 1)), 5, axis=1).ravel().tolist()
    low, high = cluster_interval(table, np.repeat(np.arange(38), 5).tolist()) or (0, 0)
    naive_low, naive_high = cluster_interval(table, list(range(190))) or (0, 0)
    assert (high - low) / (naive_high - naive_low) == pytest.approx(5**0.5, rel=0.1)


@given(st.lists(st.tuples(st.sampled_from("ABCDEFG"), st.floats(0, 1)), min_size=1, max_size=30), st.randoms())
def test_neither_order_nor_names_matter(problems: list[tuple[str, float]], random: object) -> None:
    interval = cluster_interval([s for _, s in problems], [c for c, _ in problems], resamples=500)
    shuffled = problems.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert cluster_interval([s for _, s in shuffled], [c for c, _ in shuffled], resamples=500) == interval
    if len({c for c, _ in problems}) < FEWEST:
        assert interval is None
    else:
        assert interval is not None
        assert 0 <= interval[0] <= interval[1] <= 1


def test_same_digits_with_other_threads_and_instructions() -> None:
    program = (
        "import numpy as np; from resources.bootstrap import cluster_interval;"
        "r = np.random.default_rng(0); print(cluster_interval(r.random(190).tolist(), list(range(38)) * 5))"
    )

    def run(**environment: str) -> str:
        settings = {**os.environ, **environment}
        return subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True).stdout

    here = run(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    assert here.startswith("(0.")
    assert run(OMP_NUM_THREADS="4", OPENBLAS_NUM_THREADS="4", NPY_DISABLE_CPU_FEATURES="AVX2 AVX512F") == here


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="2 scores for 1 clusters"):
        cluster_interval([0.1, 0.2], ["a"])
