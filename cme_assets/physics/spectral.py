"""The one-particle spectral function and line shapes. Widths say in their names what they are."""

from __future__ import annotations

import numpy as np

from cme_assets.physics.types import Array, ComplexArray


def spectral_function(energy: Array, band: Array, self_energy: ComplexArray) -> Array:
    """`A = (1/pi) |S''| / ((w - eps - S')^2 + S''^2)` in 1/eV, arguments broadcast against each other."""
    imaginary = np.abs(self_energy.imag)
    return imaginary / np.pi / ((energy - band - self_energy.real) ** 2 + imaginary**2)


def lorentzian(x: Array, center: Array | float, hwhm: Array | float) -> Array:
    """Lorentzian of unit height: `h^2 / ((x - c)^2 + h^2)`."""
    return hwhm**2 / ((x - center) ** 2 + hwhm**2)


def gaussian(x: Array, center: Array | float, fwhm: Array | float) -> Array:
    """Gaussian of unit height with full width at half maximum `fwhm`."""
    return np.exp(-4.0 * np.log(2.0) * ((x - center) / fwhm) ** 2)


def voigt_fwhm(fwhm_lorentz: float, fwhm_gauss: float) -> float:
    """Full width of a Lorentzian convolved with a Gaussian, within 0.02 %.

    Olivero and Longbothum, J. Quant. Spectrosc. Radiat. Transfer 17, 233 (1977).
    """
    return float(0.5346 * fwhm_lorentz + np.sqrt(0.2166 * fwhm_lorentz**2 + fwhm_gauss**2))


def damped_oscillator(energy: Array, undamped: Array | float, damping: Array | float) -> Array:
    """Imaginary susceptibility of a damped oscillator, `4 g w0 w / ((w^2 - w0^2)^2 + 4 g^2 w^2)`.

    Odd in w. `undamped` w0 and `damping` g in eV; for g << w0 the line at w0 has the full width 2 g and height 1/g.
    """
    squared = np.asarray(energy) ** 2
    return 4.0 * damping * undamped * energy / ((squared - undamped**2) ** 2 + 4.0 * damping**2 * squared)
