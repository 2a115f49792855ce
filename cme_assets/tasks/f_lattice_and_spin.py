"""Domain F: elastic line, phonon ladders, magnons and paramagnons (F1 to F6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cme_assets.physics.excitations import (
    MAGNON_RENORMALISATION,
    magnon_energy,
    magnon_weight,
    phonon_ladder,
    scattering,
    square_lattice_factor,
)
from cme_assets.physics.spectral import gaussian, lorentzian
from cme_assets.physics.types import Array
from cme_assets.tasks.category import (
    GAMMA_ENERGY,
    NOISE_LEVELS,
    RESOLUTION_LEVELS,
    Category,
    Given,
    Listed,
    MapAxes,
    MapKind,
    Quantity,
    Shape,
    Window,
    constant,
)
from cme_assets.tasks.photoemission import scalar
from cme_assets.tasks.ranges import Choice, Parameters, Uniform
from cme_assets.tasks.scattering import scattering_map, surroundings

Q_SHORT = (0.10, 0.60)

# --- F1: zero loss ---


def _elastic_window(_: Parameters) -> Window:
    return Window(Q_SHORT, (-0.12, 0.18))


def _elastic_intensity(p: Parameters, q: Array, loss: Array) -> Array:
    line = gaussian(loss, p["w_0"], p["fwhm_elastic"])
    line = line + p["shoulder"] * gaussian(loss, p["w_0"] + p["w_phonon"], p["fwhm_phonon"])
    return scattering_map(p, _elastic_window(p), line[:, None] * np.ones_like(q), q, loss)


ELASTIC_LINE = Category(
    id="F1",
    title="Zero of the energy loss",
    tier=1,
    map_kind=MapKind.LOSS_MOMENTUM,
    levels=RESOLUTION_LEVELS,
    ranges={
        **surroundings(),
        "w_0": Uniform(-0.05, 0.05),
        "fwhm_elastic": Uniform(0.012, 0.025),
        # So close and strong that it displaces the common maximum, more with every step of the kernel.
        "w_phonon": Uniform(0.015, 0.035),
        "fwhm_phonon": Uniform(0.015, 0.030),
        "shoulder": Uniform(0.5, 0.9),
    },
    window=_elastic_window,
    intensity=_elastic_intensity,
    observed=(
        "An elastic line (Gaussian) with a weaker phonon on its high-energy side that overlaps it. The zero of the "
        "loss axis has not been calibrated; the elastic line lies at the same place for all momenta."
    ),
    question=(
        "Give the zero-loss energy: the value on the loss axis of the centre of the elastic line, not of the maximum "
        "of line and phonon together."
    ),
    quantity=Quantity(("w_0",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["w_0"]),
    gamma=constant(GAMMA_ENERGY),
    version=2,
)

# --- F2, F3: phonon ladder ---

LINES = 10
PHONON_FWHM = 0.015
ELASTIC_FWHM = 0.012


def _ladder_window(_: Parameters) -> Window:
    return Window(Q_SHORT, (-0.10, 0.50))


def _ladder_intensity(p: Parameters, q: Array, loss: Array) -> Array:
    heights = phonon_ladder(LINES, p["g"], p["w_phonon"], p["core_hole"], detuning=0.0)
    places = p["w_phonon"] * np.arange(1, LINES + 1)
    spectrum = lorentzian(loss[:, None], places, 0.5 * PHONON_FWHM) @ heights
    spectrum = spectrum + p["elastic"] * heights.max() * gaussian(loss, 0.0, ELASTIC_FWHM)
    return scattering_map(p, _ladder_window(p), spectrum[:, None] * np.ones_like(q), q, loss)


_LADDER_OBSERVED = (
    "A ladder of phonon overtones: Lorentzians of full width at half maximum 0.015 eV at n w_ph, n = 1, 2, 3, ..., the "
    "same for all momenta, with intensities I_n = |sum_m <n|m'><m'|0> / (det + (g - m) w_ph + i G_c)|^2, "
    "g = (M/w_ph)^2, where |m'> are the states of the oscillator displaced by the coupling, |<0|m'>|^2 = "
    "exp(-g) g^m / m!, G_c is the half width of the core hole and det = 0 the detuning."
)

PHONON_ENERGY = replace(
    ELASTIC_LINE,
    id="F2",
    version=1,
    title="Phonon energy of a ladder",
    ranges={
        **surroundings(),
        "w_phonon": Uniform(0.06, 0.10),
        "g": Uniform(0.3, 4.0),
        "core_hole": Uniform(0.15, 0.30),
        # Brighter than any phonon line, or the brightest pixel alone would tell the phonon energy.
        "elastic": Uniform(1.1, 2.0),
    },
    window=_ladder_window,
    intensity=_ladder_intensity,
    observed=f"{_LADDER_OBSERVED} An elastic line at zero loss is present.",
    question="Give the phonon energy w_ph, the spacing of adjacent lines of the ladder.",
    quantity=Quantity(("w_ph",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["w_phonon"]),
    given=lambda p: (Given("core-hole half width G_c", p["core_hole"], "eV"),),
)

PHONON_COUPLING = replace(
    PHONON_ENERGY,
    id="F3",
    title="Electron-phonon coupling from a ladder",
    tier=3,
    levels=NOISE_LEVELS,
    ranges={**PHONON_ENERGY.ranges, "elastic": lambda _: 0.0},
    observed=f"{_LADDER_OBSERVED} There is no elastic line.",
    question="Give the electron-phonon coupling M, positive, from the intensities of the ladder.",
    quantity=Quantity(("M",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["w_phonon"] * np.sqrt(p["g"])),
    given=lambda p: (
        Given("phonon energy w_ph", p["w_phonon"], "eV"),
        Given("core-hole half width G_c", p["core_hole"], "eV"),
        Given("detuning det", 0.0, "eV"),
    ),
)

# --- F4, F5: magnon ---

CUTS = {"(h,0)": (1.0, 0.0), "(h,h)": (np.sqrt(0.5), np.sqrt(0.5))}
CUT_ENDS = {"(h,0)": 0.80, "(h,h)": 0.75}
LOWEST_MOMENTUM = 0.05
LOWEST_LISTED = 0.10


def _magnon_window(p: Parameters) -> Window:
    return Window((LOWEST_MOMENTUM, CUT_ENDS[p["cut"]]), (-0.10, 0.50))


def _magnon_factor(p: Parameters, q: Array) -> Array:
    """The lattice factor along the cut; |q| in 1/Angstrom."""
    along_h, along_k = CUTS[p["cut"]]
    reduced = q * p["a"] / (2.0 * np.pi)
    return square_lattice_factor(reduced * along_h, reduced * along_k)


def _magnon_intensity(p: Parameters, q: Array, loss: Array) -> Array:
    q = np.abs(q)
    factor = _magnon_factor(p, q)
    line = scattering(loss[:, None], magnon_energy(factor, p["J"]), 0.5 * p["fwhm"], p["T"])
    return scattering_map(p, _magnon_window(p), magnon_weight(factor) * line, q, loss)


def _magnon_columns(_: Parameters, axes: MapAxes) -> Listed:
    return Listed.where("x", axes.x.centers > LOWEST_LISTED)


def _magnon_truth(p: Parameters, axes: MapAxes) -> Array:
    q = axes.x.centers[_magnon_columns(p, axes).positions]
    return magnon_energy(_magnon_factor(p, q), p["J"])


MAGNON = Category(
    id="F4",
    title="Magnon dispersion",
    tier=2,
    map_kind=MapKind.LOSS_MOMENTUM,
    levels=NOISE_LEVELS,
    ranges={
        **surroundings(),
        "a": Uniform(3.80, 3.95),
        "cut": Choice(("(h,0)", "(h,h)")),
        "J": Uniform(0.08, 0.15),
        "fwhm": Uniform(0.04, 0.08),
    },
    window=_magnon_window,
    intensity=_magnon_intensity,
    observed=(
        "The damped magnon of a square-lattice Heisenberg antiferromagnet: at each momentum the susceptibility "
        "chi''(w) ~ g w w_q / ((w^2 - w_q^2)^2 + 4 g^2 w^2) times the thermal factor 1/(1 - exp(-w/kB T)), with the "
        "same damping g at all momenta and T between 15 and 30 K."
    ),
    question=(
        "Give the magnon dispersion w(q): for each listed column, the undamped energy w_q of this susceptibility, not "
        "the position of the maximum."
    ),
    quantity=Quantity(("w",), "eV", Shape.ARRAY),
    truth=_magnon_truth,
    gamma=constant(GAMMA_ENERGY),
    listed=_magnon_columns,
    given=lambda p: (Given("lattice constant a", p["a"], "Angstrom"), Given("direction of q", p["cut"])),
)

EXCHANGE = replace(
    MAGNON,
    id="F5",
    title="Exchange from a magnon",
    tier=3,
    question=(
        "Give the exchange J, where w_q = 2 Zc J sqrt(1 - f_q^2) with f_q = (cos qx a + cos qy a)/2 and Zc = 1.18 is "
        "the undamped energy in this susceptibility."
    ),
    quantity=Quantity(("J",), "eV", Shape.SCALAR),
    truth=lambda p, _: scalar(p["J"]),
    # First-order propagation from the zone boundary, where w = 2 Zc J.
    gamma=constant(GAMMA_ENERGY / (2.0 * MAGNON_RENORMALISATION)),
    listed=None,
)

# --- F6: paramagnon ---


def _paramagnon_window(_: Parameters) -> Window:
    return Window((0.10, 0.80), (-0.10, 0.90))


def _paramagnon_energy(p: Parameters, q: Array) -> Array:
    return p["w_m"] * np.abs(np.sin(0.5 * q * p["a"]))


def _paramagnon_intensity(p: Parameters, q: Array, loss: Array) -> Array:
    undamped = _paramagnon_energy(p, q)
    # The damped oscillator carries one factor w0; the second makes the weight w0^2, which is q^2 at small q as the
    # f-sum rule asks. Without it the smallest momenta outshine the dispersion a hundredfold.
    line = scattering(loss[:, None], undamped, p["damping"], p["T"]) * undamped
    return scattering_map(p, _paramagnon_window(p), line, q, loss)


def _underdamped_columns(p: Parameters, axes: MapAxes) -> Listed:
    return Listed.where("x", _paramagnon_energy(p, axes.x.centers) > p["damping"])


PARAMAGNON = replace(
    MAGNON,
    id="F6",
    title="Paramagnon dispersion",
    ranges={
        **surroundings(),
        "a": Uniform(3.80, 3.95),
        "w_m": Uniform(0.20, 0.35),
        "damping": Uniform(0.05, 0.20),
    },
    window=_paramagnon_window,
    intensity=_paramagnon_intensity,
    # At least the columns beyond 0.6 1/Angstrom or so are underdamped, or there would be nothing to list.
    accept=lambda p: p["damping"] < 0.9 * p["w_m"],
    observed=(
        "The paramagnon of a doped cuprate: at each momentum the susceptibility "
        "chi''(w) ~ g w / ((w^2 - w_0^2)^2 + 4 g^2 w^2) times the thermal factor 1/(1 - exp(-w/kB T)), with the same "
        "damping g at all momenta, w_0 proportional to |sin(q a/2)| and T between 15 and 30 K."
    ),
    question=(
        "Give the paramagnon dispersion w_0(q): for each listed column, the energy w_0 in this susceptibility, not the "
        "position of the maximum. Listed are the columns with w_0 > g."
    ),
    quantity=Quantity(("w_0",), "eV", Shape.ARRAY),
    truth=lambda p, axes: _paramagnon_energy(p, axes.x.centers[_underdamped_columns(p, axes).positions]),
    listed=_underdamped_columns,
    given=lambda p: (Given("lattice constant a", p["a"], "Angstrom"),),
)

CATEGORIES = (ELASTIC_LINE, PHONON_ENERGY, PHONON_COUPLING, MAGNON, EXCHANGE, PARAMAGNON)
