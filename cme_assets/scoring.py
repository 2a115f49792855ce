"""The Lorentzian score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cme_assets.physics.types import Array


def lorentzian_score(values: Sequence[float] | Array, truth: Sequence[float] | Array, gamma: float) -> float:
    """Mean over the values of `gamma^2 / ((x - x0)^2 + gamma^2)`, in [0, 1].

    `gamma` is the half width at half maximum: an error of gamma scores 0.5. A wrong number of values scores 0, and a
    value that is not finite scores 0 for its place.
    """
    given = np.asarray(values, dtype=float)
    exact = np.asarray(truth, dtype=float)
    if given.shape != exact.shape:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        points = 1.0 / (1.0 + ((given - exact) / gamma) ** 2)
    return float(np.where(np.isfinite(given), points, 0.0).mean())
