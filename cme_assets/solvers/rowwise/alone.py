"""Answers in which every listed row or column stands for itself: no law is drawn through them."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array

NEIGHBOURS = 4
"""On either side; their median tells what a place's value should be about."""
OUTLIER = 6.0
"""Typical steps from place to place; farther than so many from that median a fit has caught something else."""


def each_alone(places: Array, values: Array, wanted: Array) -> Array:
    """`values` (n,) fitted at increasing `places` as they are, at the `wanted` ones; zeros where nothing was fitted.

    What was not fitted, and what lies far off its neighbours, is interpolated between the nearest others.
    """
    fitted = np.isfinite(values)
    places, values = places[fitted], values[fitted]
    if places.size == 0:
        return np.zeros(wanted.size)
    # Reflected through its ends, a curve goes on rising or falling there.
    padded = np.pad(values, NEIGHBOURS, mode="reflect", reflect_type="odd")
    median = median_filter(padded, 2 * NEIGHBOURS + 1)[NEIGHBOURS : NEIGHBOURS + values.size]
    step = float(np.median(np.abs(np.diff(values)))) if values.size > 1 else 0.0
    kept = np.abs(values - median) <= OUTLIER * max(step, 1e-9)
    return np.interp(wanted, places[kept], values[kept])


def listed_values(problem: ClosedBookProblem) -> Array:
    """The rows or columns that the question lists. Raises ValueError if it lists none."""
    if problem.test.listed is None:
        raise ValueError(f"{problem.category_id}: lists no rows or columns; answer it as a whole")
    return np.array(problem.test.listed.values)
