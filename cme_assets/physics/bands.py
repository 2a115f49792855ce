"""Band dispersions eps(k), eV from the Fermi level, and their inverses. Momenta in 1/Angstrom."""

from __future__ import annotations

import numpy as np

from cme_assets.physics.types import Array


def linear(k: Array, velocity: float, k_fermi: float) -> Array:
    """`eps = v (k - kF)`; `velocity` v in eV Angstrom, signed."""
    return velocity * (k - k_fermi)


def quadratic(k: Array, velocity: float, curvature: float, k_fermi: float, direction: float) -> Array:
    """`eps = v u + c u^2`, `u = s (k - kF)`; v > 0, `curvature` c in eV Angstrom^2, `direction` s = +1 or -1."""
    u = direction * (k - k_fermi)
    return velocity * u + curvature * u**2


def quadratic_momentum(energy: Array, velocity: float, curvature: float, k_fermi: float, direction: float) -> Array:
    """Inverse of `quadratic` on the branch that crosses the Fermi level at kF.

    `u = 2 w / (v + sqrt(v^2 + 4 c w))`, the form of the root that stays exact as c tends to 0. Not a number where
    the band does not reach `energy`.
    """
    with np.errstate(invalid="ignore"):
        u = 2.0 * energy / (velocity + np.sqrt(velocity**2 + 4.0 * curvature * energy))
    return k_fermi + direction * u


def parabola(k: Array, bottom: float, curvature: float, k_center: float) -> Array:
    """`eps = E0 + c (k - k0)^2`; c = hbar^2 / (2 m*)."""
    return bottom + curvature * (k - k_center) ** 2


def rashba(k: Array, crossing: float, curvature: float, splitting: float, k_center: float) -> tuple[Array, Array]:
    """The two Rashba branches `E0 + c q^2 -+ aR |q|`, `q = k - k0`, lower first; their minimum is E0 - aR^2/(4 c)."""
    q = np.abs(k - k_center)
    free = crossing + curvature * q**2
    return free - splitting * q, free + splitting * q


def dirac(k: Array, node: float, velocity: float, mass: float, k_center: float) -> tuple[Array, Array]:
    """Dirac cone cut through its axis, `E_D -+ sqrt(v^2 (k - k0)^2 + M^2)`, lower branch first."""
    half = np.hypot(velocity * (k - k_center), mass)
    return node - half, node + half


def hybridised(first: Array, second: Array, coupling: float) -> tuple[Array, Array, Array, Array]:
    """Two bands coupled by `coupling` (half the full gap, eV): the two bands and the first one's weight in each.

    Eigenvalues of [[e1, D], [D, e2]] and the coherence factors `(1 -+ (e1 - e2)/sqrt((e1 - e2)^2 + 4 D^2)) / 2`.
    """
    middle = 0.5 * (first + second)
    half = 0.5 * (first - second)
    root = np.hypot(half, coupling)
    with np.errstate(invalid="ignore", divide="ignore"):
        polarisation = np.where(root > 0, half / root, 0.0)
    return middle - root, middle + root, 0.5 * (1.0 - polarisation), 0.5 * (1.0 + polarisation)
