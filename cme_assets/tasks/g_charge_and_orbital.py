"""Domain G: orbital excitations, plasmons and charge order (G1 to G5)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from cme_assets.physics.excitations import acoustic_plasmon_velocity, plasmon_energy, scattering
from cme_assets.physics.spectral import gaussian, lorentzian
from cme_assets.physics.types import Array
from cme_assets.tasks.category import (
    GAMMA_ENERGY,
    GAMMA_MOMENTUM,
    NOISE_LEVELS,
    Category,
    Given,
    Listed,
    MapAxes,
    MapKind,
    Quantity,
    Shape,
    Window,
    constant,
    velocity_gamma,
)
from cme_assets.tasks.photoemission import scalar
from cme_assets.tasks.ranges import Parameters, Uniform
from cme_assets.tasks.scattering import environment, scattering_map, surroundings

# --- G1: dd excitations ---

PEAKS = (1, 2, 3)


def _orbital_window(_: Parameters) -> Window:
    return Window((0.10, 0.60), (0.80, 3.20))


def _orbital_intensity(p: Parameters, q: Array, loss: Array) -> Array:
    tail = p["tail"] * lorentzian(loss, p["w_tail"], p["hwhm_tail"])
    peaks = sum(p[f"height{n}"] * gaussian(loss, p[f"w{n}"], p[f"fwhm{n}"]) for n in PEAKS)
    return scattering_map(p, _orbital_window(p), (peaks + tail)[:, None] * np.ones_like(q), q, loss)


def _orbital_energies(p: Parameters) -> Array:
    return np.sort([p[f"w{n}"] for n in PEAKS])


def _resolved(p: Parameters) -> bool:
    """Neighbours at least 0.25 eV and 1.2 mean full widths apart."""
    order = sorted(PEAKS, key=lambda n: p[f"w{n}"])
    return all(p[f"w{b}"] - p[f"w{a}"] >= max(0.25, 0.6 * (p[f"fwhm{a}"] + p[f"fwhm{b}"])) for a, b in pairwise(order))


ORBITAL = Category(
    id="G1",
    title="Orbital excitations",
    tier=1,
    map_kind=MapKind.LOSS_MOMENTUM,
    levels=NOISE_LEVELS,
    ranges={
        **surroundings(),
        **{f"w{n}": Uniform(1.2, 2.6) for n in PEAKS},
        **{f"fwhm{n}": Uniform(0.08, 0.30) for n in PEAKS},
        **{f"height{n}": Uniform(0.4, 1.0) for n in PEAKS},
        "w_tail": Uniform(3.8, 4.5),
        "hwhm_tail": Uniform(0.4, 0.8),
        "tail": Uniform(0.3, 0.8),
    },
    window=_orbital_window,
    intensity=_orbital_intensity,
    accept=_resolved,
    observed=(
        "Three orbital (dd) excitations, Gaussians along the loss axis that do not move with momentum, on the tail of "
        "a charge-transfer excitation above the window."
    ),
    question="Give the energies of the three excitations: the centres of the Gaussian components, in increasing order.",
    quantity=Quantity(("w_1", "w_2", "w_3"), "eV", Shape.VALUES),
    truth=lambda p, _: _orbital_energies(p),
    gamma=constant(GAMMA_ENERGY),
)

# --- G2, G5: layered plasmon ---


def _plasmon_window(_: Parameters) -> Window:
    return Window((0.05, 0.50), (-0.10, 1.70))


def _plasmon_line(p: Parameters, window: Window, q: Array, loss: Array) -> Array:
    """The damped plasmon; its spectral weight grows as the energy, which keeps the peak height even along q."""
    # Momenta in the padding may be negative; the spectrum is even.
    q = np.abs(q)
    energy = plasmon_energy(q, p["strength"], p["spacing"], p["phase"])
    return scattering_map(p, window, scattering(loss[:, None], energy, 0.5 * p["fwhm"], p["T"]), q, loss)


def _plasmon_columns(_: Parameters, axes: MapAxes) -> Listed:
    return Listed("x", 0, axes.x.size - 1)


PLASMON = Category(
    id="G2",
    title="Plasmon dispersion",
    tier=2,
    map_kind=MapKind.LOSS_MOMENTUM,
    levels=NOISE_LEVELS,
    ranges={
        **surroundings(),
        "strength": Uniform(1.0, 4.0),
        "spacing": Uniform(6.0, 13.0),
        "phase": Uniform(0.3 * np.pi, np.pi),
        "fwhm": Uniform(0.05, 0.20),
    },
    window=_plasmon_window,
    intensity=lambda p, q, loss: _plasmon_line(p, _plasmon_window(p), q, loss),
    observed=(
        "The plasmon of a layered metal: at each momentum the susceptibility "
        "chi''(w) ~ g w w_p / ((w^2 - w_p^2)^2 + 4 g^2 w^2) times the thermal factor 1/(1 - exp(-w/kB T)), with the "
        "same damping g at all momenta and T between 15 and 30 K."
    ),
    question=(
        "Give the plasmon dispersion w_p(q): for each listed column, the undamped energy w_p of this susceptibility, "
        "not the position of the maximum."
    ),
    quantity=Quantity(("w_p",), "eV", Shape.ARRAY),
    truth=lambda p, axes: plasmon_energy(axes.x.centers, p["strength"], p["spacing"], p["phase"]),
    gamma=constant(GAMMA_ENERGY),
    listed=_plasmon_columns,
)

ACOUSTIC_Q = (0.02, 0.30)


def _acoustic_window(_: Parameters) -> Window:
    return Window(ACOUSTIC_Q, (-0.10, 1.30))


def _acoustic_gamma(p: Parameters) -> float:
    ends = plasmon_energy(np.array(ACOUSTIC_Q), p["strength"], p["spacing"], p["phase"])
    velocity = acoustic_plasmon_velocity(p["strength"], p["spacing"])
    return velocity_gamma(velocity, ACOUSTIC_Q[1] - ACOUSTIC_Q[0], float(ends[1] - ends[0]))


PLASMON_VELOCITY = replace(
    PLASMON,
    id="G5",
    title="Velocity of an acoustic plasmon",
    tier=3,
    ranges={**PLASMON.ranges, "phase": lambda _: np.pi},
    window=_acoustic_window,
    intensity=lambda p, q, loss: _plasmon_line(p, _acoustic_window(p), q, loss),
    observed=(
        f"{PLASMON.observed} It is the acoustic branch, whose layers oscillate in antiphase: "
        "w_p(q) = sqrt(A q sinh(q d) / (cosh(q d) + 1)) with the layer spacing d and an unknown strength A."
    ),
    question="Give the long-wavelength velocity of the plasmon: the slope d w_p / dq of the undamped energy at q -> 0.",
    quantity=Quantity(("v",), "eV Angstrom", Shape.SCALAR),
    truth=lambda p, _: scalar(acoustic_plasmon_velocity(p["strength"], p["spacing"])),
    gamma=_acoustic_gamma,
    listed=None,
    given=lambda p: (Given("layer spacing d", p["spacing"], "Angstrom"),),
)

# --- G3, G4: charge order ---

ORDER_WIDTH = 0.65


def _order_window(p: Parameters) -> Window:
    return Window((p["q_start"], p["q_start"] + ORDER_WIDTH), (-0.10, 0.30))


def _order_intensity(p: Parameters, q: Array, loss: Array) -> Array:
    profile = p["height"] * lorentzian(q, p["q_CO"], p["hwhm_q"]) + p["base"] + p["slope"] * (q - p["q_start"])
    line = gaussian(loss, 0.0, p["fwhm_loss"])
    return scattering_map(p, _order_window(p), line[:, None] * profile, q, loss)


CHARGE_ORDER = Category(
    id="G3",
    title="Charge-order wave vector",
    tier=1,
    map_kind=MapKind.LOSS_MOMENTUM,
    levels=NOISE_LEVELS,
    ranges={
        **environment(),
        "a": Uniform(3.80, 3.95),
        "q_CO": lambda p: Uniform(0.25 * 2.0 * np.pi / p["a"], 0.35 * 2.0 * np.pi / p["a"]),
        "q_start": Uniform(0.08, 0.22),
        "hwhm_q": Uniform(0.015, 0.12),
        "height": Uniform(0.6, 1.0),
        "base": Uniform(0.1, 0.4),
        "slope": Uniform(-0.15, 0.4),
        "fwhm_loss": Uniform(0.030, 0.060),
        # The slope is in the background already; a factor over the whole profile would not be Lorentzian plus line.
        "m1": lambda _: 0.0,
        "m2": lambda _: 0.0,
    },
    window=_order_window,
    intensity=_order_intensity,
    observed=(
        "Quasi-elastic scattering from short-range charge order: along momentum a Lorentzian "
        "I0 G^2 / ((q - q_CO)^2 + G^2) on a background that is linear in q; along the loss axis one line at zero."
    ),
    question="Give the charge-order wave vector q_CO: the centre of the Lorentzian, without the sloping background.",
    quantity=Quantity(("q_CO",), "1/Angstrom", Shape.SCALAR),
    truth=lambda p, _: scalar(p["q_CO"]),
    gamma=constant(GAMMA_MOMENTUM),
)

CORRELATION_LENGTH = replace(
    CHARGE_ORDER,
    id="G4",
    title="Inverse correlation length of charge order",
    tier=3,
    question=(
        "Give the intrinsic half width at half maximum G of the Lorentzian (the inverse correlation length), with the "
        "instrument's resolution removed."
    ),
    quantity=Quantity(("G",), "1/Angstrom", Shape.SCALAR),
    truth=lambda p, _: scalar(p["hwhm_q"]),
)

CATEGORIES = (ORBITAL, PLASMON, CHARGE_ORDER, CORRELATION_LENGTH, PLASMON_VELOCITY)
