"""Confidence intervals of proportions, whose values are mostly 0 or 1, so that no interval is a point at either end."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

CONFIDENCE_Z = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


def wilson_interval(fraction: float, count: float, z: float = CONFIDENCE_Z) -> tuple[float, float]:
    """Wilson's interval (1927) of a fraction seen in `count` independent tries; `count` may be fractional, above 0."""
    middle = fraction + z * z / (2 * count)
    half = z * math.sqrt(fraction * (1 - fraction) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    low, high = max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
    # At 0 and 1 an end is the fraction itself; rounding must not put it on the other side.
    return min(low, fraction), max(high, fraction)


def clustered_interval(values: Sequence[float], clusters: Sequence[Hashable]) -> tuple[float, float]:
    """Wilson's interval of the mean of `values` (0 to 1), with the effective number of independent ones.

    The effective number is the number divided by the design effect (Kish 1965): the variance of the mean over whole
    clusters, by linearisation with the factor k / (k - 1), relative to that of independent values; an effect below 1
    is not believed. When all values are equal nothing can be told, and each cluster counts once.
    """
    count = len(values)
    mean = math.fsum(values) / count
    totals: defaultdict[Hashable, float] = defaultdict(float)
    for value, cluster in zip(values, clusters, strict=True):
        totals[cluster] += value - mean
    independent = mean * (1 - mean) / count
    number = len(totals)
    if independent <= 0 or number < 2:
        return wilson_interval(mean, number)
    variance = number / (number - 1) * math.fsum(total * total for total in totals.values()) / count**2
    return wilson_interval(mean, count / max(1.0, variance / independent))
