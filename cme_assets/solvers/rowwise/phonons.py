"""Self-energies of Debye spectra for any cut-off, fast enough to be fitted: a spline through tabulated ones."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.interpolate import RectBivariateSpline

from cme_assets.physics.self_energies import debye
from cme_assets.physics.types import Array

TEMPERATURE = 15.0
"""Low-temperature ARPES; the prompt names no temperature and the results hardly depend on it, K."""
ENERGIES = np.arange(-0.300, 0.0011, 0.0025)
"""Energies of the table, eV."""
CUTOFFS = np.arange(0.003, 0.1801, 0.004)
"""Cut-offs of the table, eV."""


@lru_cache(maxsize=1)
def _splines() -> tuple[RectBivariateSpline, RectBivariateSpline]:
    """`W^2 S'` and `W^2 |S''|` over (w, W): integrals up to W of a smooth function, hence smooth in both."""
    scaled = np.stack([cutoff**2 * debye(ENERGIES, 1.0, float(cutoff), TEMPERATURE) for cutoff in CUTOFFS], axis=1)
    return RectBivariateSpline(ENERGIES, CUTOFFS, scaled.real), RectBivariateSpline(ENERGIES, CUTOFFS, -scaled.imag)


def debye_parts(energy: Array, cutoff: float) -> tuple[Array, Array]:
    """`S'` and `|S''|` of coupling one at increasing energies w <= 0, eV; `cutoff` is kept within 3 to 179 meV."""
    cutoff = float(np.clip(cutoff, CUTOFFS[0], CUTOFFS[-1]))
    real, rate = (spline(energy, cutoff)[:, 0] / cutoff**2 for spline in _splines())
    return real, rate
