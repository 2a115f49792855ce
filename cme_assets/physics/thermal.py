"""Occupation factors."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from cme_assets.physics.constants import BOLTZMANN
from cme_assets.physics.types import Array


def fermi(energy: Array | float, temperature: float) -> Array:
    """Fermi function `1 / (exp(w / kB T) + 1)`; `energy` w in eV from the Fermi level, `temperature` in K, > 0."""
    return expit(-np.asarray(energy, dtype=float) / (BOLTZMANN * temperature))


def bose(energy: Array | float, temperature: float) -> Array:
    """Bose function `1 / (exp(w / kB T) - 1)`; infinite at w = 0, tends to -1 far below it."""
    with np.errstate(over="ignore", divide="ignore"):
        return 1.0 / np.expm1(np.asarray(energy, dtype=float) / (BOLTZMANN * temperature))
