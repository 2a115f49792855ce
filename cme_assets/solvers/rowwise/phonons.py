"""Self-energies of Debye spectra on a grid of cut-offs, for fits that are linear in everything else."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cme_assets.physics.self_energies import debye
from cme_assets.physics.types import Array

TEMPERATURE = 15.0
"""Low-temperature ARPES; the prompt names no temperature and the results hardly depend on it, K."""
DEEPEST, STEP = 0.40, 0.001
"""Energies at which the self-energies are tabulated, eV."""


@lru_cache(maxsize=256)
def _tabulated(cutoff_in_tenths_of_mev: int) -> tuple[Array, Array, Array]:
    energy = np.arange(-DEEPEST, 0.5 * STEP, STEP)
    sigma = debye(energy, 1.0, cutoff_in_tenths_of_mev * 1e-4, TEMPERATURE)
    return energy, sigma.real, -sigma.imag


def debye_parts(energy: Array, cutoff: float) -> tuple[Array, Array]:
    """`S'` and `|S''|` at energies w <= 0 for coupling one, eV; the cut-off is rounded to 0.1 meV."""
    table, real, rate = _tabulated(round(cutoff * 1e4))
    return np.interp(energy, table, real), np.interp(energy, table, rate)
