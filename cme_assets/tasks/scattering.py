"""What the loss-momentum maps of domains F and G share."""

from __future__ import annotations

import numpy as np

from cme_assets.physics.types import Array
from cme_assets.tasks.category import Window
from cme_assets.tasks.ranges import Declared, Parameters, Uniform


def environment() -> dict[str, Declared]:
    """Temperature, and the background at both ends of the loss axis."""
    return {"T": Uniform(15.0, 30.0), "background_bottom": Uniform(0.0, 0.05), "background_top": Uniform(0.0, 0.05)}


def surroundings() -> dict[str, Declared]:
    """The environment, and a slow variation of the intensity with momentum.

    It multiplies whole columns and so moves nothing along the loss axis. Where a feature is sought along momentum
    (charge order) the category has none.
    """
    return {**environment(), "m1": Uniform(-0.5, 0.5), "m2": Uniform(0.0, 0.3)}


def scattering_map(p: Parameters, window: Window, signal: Array, q: Array, loss: Array) -> Array:
    """`M(q) S(q, w) + B(w)`: `signal` and the result are (n_w, n_q); the background is in fractions of the peak."""
    u = window.across_x(q)
    weighted = signal * (1.0 + p["m1"] * u + p["m2"] * u**2)
    rise = np.clip(0.5 * (1.0 + window.across_y(loss)), 0.0, 1.0)
    background = p["background_bottom"] + (p["background_top"] - p["background_bottom"]) * rise
    return weighted + window.peak(weighted, q, loss) * background[:, None]
