"""Confidence intervals of mean scores whose problems come in clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SEED = 20261024
RESAMPLES = 10_000
CONFIDENCE = 0.95
FEWEST = 5
"""Of fewer clusters, the resampled means are too few for percentiles: those of two are the means of either."""

FIXED_POINT = 2.0**40
"""Scores are summed as whole multiples of 2^-40 (1e-12): whole numbers add up to the same sum in any order, so that
neither thread counts nor processors show in the last digit. Sums stay exact below four million problems a cluster."""


def cluster_interval(
    scores: Sequence[float], clusters: Sequence[Hashable], *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> tuple[float, float] | None:
    """Percentile interval of the mean of `scores` (n,) in [0, 1], or None where there are fewer than `FEWEST` clusters.

    Whole clusters (n,) are drawn with replacement, as many as there are, and the mean is taken over all problems
    drawn: Field and Welsh, J. R. Stat. Soc. B 69, 369 (2007). The seed is fixed and the draws depend on nothing but
    the number of clusters, so that equal scores give equal intervals.
    """
    if len(scores) != len(clusters):
        raise ValueError(f"{len(scores)} scores for {len(clusters)} clusters: one cluster a score is needed")
    # Sorted by text: the draws address clusters by place, and the order of rows is nobody's promise.
    places = {cluster: place for place, cluster in enumerate(sorted(set(clusters), key=str))}
    if len(places) < FEWEST:
        return None
    index = [places[cluster] for cluster in clusters]
    sums = np.zeros(len(places), dtype=np.int64)
    np.add.at(sums, index, np.rint(np.asarray(scores, dtype=float) * FIXED_POINT).astype(np.int64))
    counts = np.bincount(index)
    drawn = _drawn(len(places), resamples)
    means = sums[drawn].sum(axis=1) / (counts[drawn].sum(axis=1) * FIXED_POINT)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return float(low), float(high)


@lru_cache(maxsize=8)
def _drawn(clusters: int, resamples: int) -> NDArray[np.int64]:
    """Which clusters each resample has, (resamples, clusters)."""
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence((SEED, clusters))))
    return generator.integers(clusters, size=(resamples, clusters))
