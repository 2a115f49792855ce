"""Excitations seen by RIXS: phonon ladders, magnons, paramagnons, plasmons. Losses in eV, momenta in 1/Angstrom."""

from __future__ import annotations

import numpy as np
from scipy.special import eval_genlaguerre, gammaln

from cme_assets.physics.constants import BOLTZMANN
from cme_assets.physics.spectral import damped_oscillator
from cme_assets.physics.types import Array

MAGNON_RENORMALISATION = 1.18
"""Quantum correction Zc of the spin-wave velocity of the square-lattice S = 1/2 Heisenberg model."""

OVERLAP_NORM_TOLERANCE = 1e-12


def franck_condon_overlaps(displacement: float, size: int) -> Array:
    """Overlaps `D_nm = <n|m~>` of an oscillator with one displaced by sqrt(g), (size, size); g = `displacement`.

    `D_nm = exp(-g/2) sqrt(m!/n!) (sqrt g)^(n-m) L_m^(n-m)(g)` for n >= m, and `D_mn = (-1)^(n-m) D_nm`.
    """
    n, m = np.indices((size, size))
    large, small = np.maximum(n, m), np.minimum(n, m)
    logarithm = -0.5 * displacement + 0.5 * (gammaln(small + 1) - gammaln(large + 1))
    power = displacement ** (0.5 * (large - small))
    value = np.exp(logarithm) * power * eval_genlaguerre(small, large - small, displacement)
    return np.where((n < m) & ((m - n) % 2 == 1), -value, value)


def phonon_ladder(lines: int, displacement: float, phonon: float, core_hole_hwhm: float, detuning: float) -> Array:
    """Intensities of the first `lines` phonon lines n = 1 ... lines, (lines,) (Ament et al., EPL 95, 27008 (2011)).

    `I_n = |sum_m <n|m~><m~|0> / (det + (g - m) w_ph + i G_c)|^2`, g = (M/w_ph)^2. Intermediate states are kept until
    the ground state's overlaps sum to one within 1e-12.
    """
    size = lines + 1
    while 1.0 - np.sum(franck_condon_overlaps(displacement, size)[0] ** 2) > OVERLAP_NORM_TOLERANCE:
        size += 4
    overlaps = franck_condon_overlaps(displacement, size)
    m = np.arange(size)
    propagator = 1.0 / (detuning + (displacement - m) * phonon + 1j * core_hole_hwhm)
    # <n|m~><m~|0>: both overlaps read from the undisplaced state, or odd m change sign.
    amplitude = overlaps[1 : lines + 1] @ (overlaps[0] * propagator)
    return np.abs(amplitude) ** 2


def square_lattice_factor(h: Array, k: Array) -> Array:
    """`(cos 2 pi h + cos 2 pi k)/2` for momenta in reciprocal lattice units."""
    return 0.5 * (np.cos(2.0 * np.pi * h) + np.cos(2.0 * np.pi * k))


def magnon_energy(factor: Array, exchange: float) -> Array:
    """Spin-wave energy `2 Zc J sqrt(1 - g_q^2)` of the square-lattice antiferromagnet, `exchange` J in eV."""
    return 2.0 * MAGNON_RENORMALISATION * exchange * np.sqrt(np.clip(1.0 - factor**2, 0.0, None))


def magnon_weight(factor: Array) -> Array:
    """Transverse spin structure factor `sqrt((1 - g_q)/(1 + g_q))`, zero at q = 0."""
    with np.errstate(divide="ignore"):
        return np.sqrt((1.0 - factor) / (1.0 + factor))


def scattering(energy: Array, undamped: Array, damping: Array | float, temperature: float) -> Array:
    """Damped oscillator with detailed balance, `chi''(w) (1 + n(w)) = chi''(w) / (1 - exp(-w/kB T))`.

    At w = 0 the value is the limit, chi''(w)/w times kB T. Far on the gain side it underflows to zero.
    """
    safe = np.where(np.abs(energy) < 1e-9, 1e-9, energy)
    with np.errstate(over="ignore"):
        thermal = -1.0 / np.expm1(-safe / (BOLTZMANN * temperature))
    return damped_oscillator(safe, undamped, damping) * thermal


def plasmon_energy(q: Array, strength: float, spacing: float, phase: float) -> Array:
    """Layered electron gas, `w_p = sqrt(Ap q sinh(qd) / (cosh(qd) - cos(qz d)))` (Fetter, Ann. Phys. 88, 1 (1974)).

    `strength` Ap in eV^2 Angstrom, `spacing` d in Angstrom, `phase` = qz d in radians.
    """
    qd = q * spacing
    return np.sqrt(strength * q * np.sinh(qd) / (np.cosh(qd) - np.cos(phase)))


def acoustic_plasmon_velocity(strength: float, spacing: float) -> float:
    """Slope of the branch qz d = pi at q -> 0, `sqrt(Ap d / 2)`, eV Angstrom."""
    return float(np.sqrt(0.5 * strength * spacing))
