"""Self-energies Sigma(w) = S' + i S'' of one band, causal (S'' <= 0) and independent of momentum unless said.

`energy` w is measured from the Fermi level in eV, any shape; the result has that shape, complex, eV.
Where a real part is given it is the exact Kramers-Kronig partner of the imaginary part.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import digamma, xlogy

from cme_assets.physics.constants import BOLTZMANN
from cme_assets.physics.types import Array, ComplexArray

DEBYE_QUADRATURE_NODES = 192
"""Gauss-Legendre nodes over the Debye spectrum. The integrand varies on the scale pi kB T, 2.7 meV at 10 K; for a
cut-off of 120 meV this many nodes leave an error below 1e-6 of lambda W."""


def impurity(energy: Array, rate: float) -> ComplexArray:
    """Elastic scattering: `S'' = -rate`, no real part. `rate` in eV, the half width of the line in energy."""
    return np.full(np.shape(energy), -1j * rate)


def fermi_liquid(energy: Array, strength: float, temperature: float) -> ComplexArray:
    """Fermi liquid: `S'' = -a (w^2 + (pi kB T)^2)` with a = `strength` in 1/eV.

    The quadratic form holds only at low energy and has no finite Kramers-Kronig partner, so the real part is left
    out: over a narrow window it is a constant renormalisation that the bare band absorbs.
    """
    thermal = np.pi * BOLTZMANN * temperature
    return -1j * strength * (np.asarray(energy) ** 2 + thermal**2)


def marginal_fermi_liquid(energy: Array, strength: float, cutoff: float, temperature: float) -> ComplexArray:
    """Marginal Fermi liquid: `S'' = -a min(|w| + b, wc)`, `b = pi kB T` (Varma et al., PRL 63, 1996 (1989)).

    `strength` a is dimensionless, `cutoff` wc in eV, above b. The partner of the saturating triangle is
    `S' = -(a/pi) [w ln|(c^2 - w^2)/w^2| + c ln|(c + w)/(c - w)|]`, `c = wc - b`.
    """
    thermal = np.pi * BOLTZMANN * temperature
    w = np.asarray(energy, dtype=float)
    c = cutoff - thermal
    imaginary = -strength * np.minimum(np.abs(w) + thermal, cutoff)
    # w ln|c^2-w^2| + c ln|c+w| - c ln|c-w| regrouped so that the zeros of each logarithm meet a zero factor.
    real = -(strength / np.pi) * (xlogy(c + w, np.abs(c + w)) - xlogy(c - w, np.abs(c - w)) - 2.0 * xlogy(w, np.abs(w)))
    return real + 1j * imaginary


def einstein(energy: Array, coupling: float, mode: float) -> ComplexArray:
    """One Einstein mode at T = 0: `S'' = -(pi lam W/2) theta(|w| > W)`, `S' = -(lam W/2) ln|(w + W)/(w - W)|`.

    `coupling` lam is the mass enhancement, `mode` W in eV. The real part is infinite at |w| = W.
    """
    w = np.asarray(energy, dtype=float)
    with np.errstate(divide="ignore"):
        real = -0.5 * coupling * mode * (np.log(np.abs(w + mode)) - np.log(np.abs(w - mode)))
    return real - 0.5j * np.pi * coupling * mode * (np.abs(w) > mode)


def debye(energy: Array, coupling: float, cutoff: float, temperature: float) -> ComplexArray:
    """Debye spectrum `a2F(O) = lam (O/W)^2`, O < W, at finite temperature.

    `Sigma(w) = int a2F(O) L(w, O) dO` with the kernel of Allen and Mitrovic (Solid State Physics 37, 1 (1982)),
    `L = -2 pi i (n(O) + 1/2) + psi(1/2 + i (O - w)/(2 pi kB T)) - psi(1/2 - i (O + w)/(2 pi kB T))`; its imaginary
    part is `-pi [1 + 2 n(O) + f(w + O) - f(w - O)]`. `coupling` lam = -dS'/dw at w = 0 and T = 0; `cutoff` W in eV.
    """
    w = np.asarray(energy, dtype=float).reshape(-1, 1)
    nodes, weights = _unit_quadrature(DEBYE_QUADRATURE_NODES)
    omega = cutoff * nodes
    scale = 2.0 * np.pi * BOLTZMANN * temperature
    boson = 0.5 / np.tanh(0.5 * omega / (BOLTZMANN * temperature))
    kernel = digamma(0.5 + 1j * (omega - w) / scale) - digamma(0.5 - 1j * (omega + w) / scale)
    sigma = (kernel - 2j * np.pi * boson) @ (coupling * nodes**2 * cutoff * weights)
    return sigma.reshape(np.shape(energy))


def norman_pairing(energy: Array, band: Array, rate: float, gap: float, pair_rate: float) -> ComplexArray:
    """Superconductor: `Sigma = -i G1 + D^2 / (w + eps_k + i Gp)` (Norman et al., PRB 57, R11093 (1998)).

    `band` eps_k in eV, broadcast against `energy`; `rate` G1, `gap` D (half the full gap), `pair_rate` Gp in eV.
    """
    return -1j * rate + gap**2 / (np.asarray(energy) + np.asarray(band) + 1j * pair_rate)


@lru_cache(maxsize=4)
def _unit_quadrature(nodes: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on (0, 1)."""
    x, weights = np.polynomial.legendre.leggauss(nodes)
    return 0.5 * (x + 1.0), 0.5 * weights
