"""What a task category is: one object that says everything about it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from cme_assets.physics.noise import Specks
from cme_assets.physics.resolution import PixelAxis
from cme_assets.physics.types import Array, Mask
from cme_assets.tasks.ranges import Declared, Parameters, always

GAMMA_ENERGY = 0.003
"""Half width of the Lorentzian score for energies, eV, as published."""
GAMMA_MOMENTUM = 0.005
"""Half width of the Lorentzian score for momenta, 1/Angstrom, as published."""
GAMMA_DOPING = 0.01
"""Half width of the Lorentzian score for dopings, as published."""
PUBLISHED_DOMAINS = "ABCDEFG"
TIERS = (1, 2, 3)
MOST_LEVELS = 5
_ID = re.compile("[A-Z][1-9][0-9]*")


class CategoryError(ValueError):
    """A category that cannot be used as declared; the message is one line with the category and the mend."""


class MapKind(StrEnum):
    """The two axes of a map: rows first, columns second."""

    ENERGY_MOMENTUM = "EK"
    MOMENTUM_MOMENTUM = "KK"
    LOSS_MOMENTUM = "QW"


SPECKS = {
    MapKind.ENERGY_MOMENTUM: Specks(20_000, 0.005, 0.01),
    MapKind.MOMENTUM_MOMENTUM: Specks(20_000, 0.01, 0.01),
    MapKind.LOSS_MOMENTUM: Specks(5_000, 0.010, 0.01),
}
"""Published counts; the footprints are this project's choice (eV along energy, 1/Angstrom along momentum)."""


@dataclass(frozen=True)
class Level:
    """One step of difficulty: mean noise as a fraction of the peak, and the broadening of the energy kernel."""

    noise: float
    energy_factor: float = 1.0


NOISE_LEVELS = tuple(Level(noise) for noise in (0.0, 0.1, 0.2, 0.3, 0.4))
HALF_NOISE_LEVELS = tuple(Level(noise) for noise in (0.0, 0.05, 0.1, 0.15, 0.2))
RESOLUTION_LEVELS = tuple(Level(0.05, factor) for factor in (1.0, 2.0, 4.0, 6.0, 8.0))


class Shape(StrEnum):
    """The form of an answer."""

    SCALAR = "scalar"
    VALUES = "values"
    ARRAY = "array"


@dataclass(frozen=True)
class Quantity:
    """What is asked: names in the order wanted (one for arrays), the unit and the form."""

    names: tuple[str, ...]
    unit: str
    shape: Shape

    def __post_init__(self) -> None:
        if (len(self.names) > 1) != (self.shape is Shape.VALUES):
            raise CategoryError(f"{self.names}: several names and only they make Shape.VALUES")


def _across(values: Array, interval: tuple[float, float]) -> Array:
    start, stop = interval
    return (2.0 * values - start - stop) / (stop - start)


@dataclass(frozen=True)
class Window:
    """What the map shows: `x` and `y` from, to, in the model's coordinates; the table prints y + `y_zero`."""

    x: tuple[float, float]
    y: tuple[float, float]
    y_zero: float = 0.0

    def across_x(self, x: Array) -> Array:
        """Position of column values in the window, from -1 at its start to +1 at its end."""
        return _across(x, self.x)

    def across_y(self, y: Array) -> Array:
        """Position of row values in the window, from -1 to +1."""
        return _across(y, self.y)

    def peak(self, intensity: Array, x: Array, y: Array) -> float:
        """Largest value of a map (len(y), len(x)) inside the window: the padding does not count."""
        columns, rows = np.abs(self.across_x(x)) <= 1.0, np.abs(self.across_y(y)) <= 1.0
        return float(intensity[np.ix_(rows, columns)].max())


@dataclass(frozen=True)
class MapAxes:
    """A window cut into pixels."""

    x: PixelAxis
    y: PixelAxis
    y_zero: float

    @classmethod
    def of(cls, window: Window, size: int) -> MapAxes:
        """The square table of side `size` over `window`."""
        return cls(PixelAxis(*window.x, size), PixelAxis(*window.y, size), window.y_zero)

    @property
    def printed_y(self) -> Array:
        """Row values as the table shows them, (size,)."""
        return self.y.centers + self.y_zero


@dataclass(frozen=True)
class Listed:
    """Which rows (`axis` = "y") or columns ("x") an array answer is asked for: the run `first` to `last`, inclusive."""

    axis: str
    first: int
    last: int

    @classmethod
    def where(cls, axis: str, mask: Mask) -> Listed:
        """The run of true values in `mask`, which must be one piece."""
        places = np.flatnonzero(mask)
        if places.size == 0 or places[-1] - places[0] + 1 != places.size:
            raise ValueError(f"the listed {axis} values must be one unbroken run")
        return cls(axis, int(places[0]), int(places[-1]))

    @property
    def positions(self) -> slice:
        """The run as a slice."""
        return slice(self.first, self.last + 1)

    def __len__(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class Given:
    """A value that the prompt states with a map, because the map alone does not determine it."""

    name: str
    value: float | str
    unit: str = ""


def nothing_given(_: Parameters) -> tuple[Given, ...]:
    """For categories whose maps say everything."""
    return ()


@dataclass(frozen=True, eq=False)
class Category:
    """One of the 38 task categories, or one of your own.

    `id` is a capital letter, the domain's, and a number from 1: B11 is one more of domain B, H1 the first of another.
    `ranges` declares what is drawn, `accept` which draws are kept. `intensity(p, x, y)` is the map without noise and
    resolution on column values x (n_x,) and row values y (n_y,), shape (n_y, n_x), any unit. `truth(p, axes)` is the
    model quantity in the order of `quantity.names`, or along the `listed` run. `gamma` is the half width of the
    Lorentzian score, in the quantity's unit. `version` is raised when anything of the category changes.
    `published` is False for a category of your own, beyond the 38: it is simulated, asked and scored like any and
    shown by category, but stays out of the totals, which are compared with published ones.
    """

    id: str
    title: str
    tier: int
    map_kind: MapKind
    levels: tuple[Level, ...]
    ranges: Mapping[str, Declared]
    window: Callable[[Parameters], Window]
    intensity: Callable[[Parameters, Array, Array], Array]
    observed: str
    question: str
    quantity: Quantity
    truth: Callable[[Parameters, MapAxes], Array]
    gamma: Callable[[Parameters], float]
    accept: Callable[[Parameters], bool] = always
    listed: Callable[[Parameters, MapAxes], Listed] | None = None
    given: Callable[[Parameters], tuple[Given, ...]] = nothing_given
    wide_gamma: float | None = None
    version: int = 1
    published: bool = True
    specks: Specks = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "specks", SPECKS[self.map_kind])
        if fault := self._fault():
            raise CategoryError(f"category {self.id!r}: {fault}")

    def _fault(self) -> str | None:
        """What folders, reports or the page could not take, with the mend: better said before models are asked."""
        if not _ID.fullmatch(self.id):
            return "is no id; use one capital letter, the domain's, and a number from 1, such as H1 or B11"
        if self.published and self.domain not in PUBLISHED_DOMAINS:
            return "its domain is none of the published A to G; declare it with published=False"
        if self.tier not in TIERS:
            return f"tier {self.tier} is none of 1, 2 and 3"
        if not 1 <= len(self.levels) <= MOST_LEVELS:
            return f"has {len(self.levels)} levels; use 1 to {MOST_LEVELS}"
        if (self.listed is not None) != (self.quantity.shape is Shape.ARRAY):
            return "array answers and only they need the rows or columns listed"
        return None

    @property
    def domain(self) -> str:
        """The letter of the physics domain: A to G, any other for categories of your own."""
        return self.id[0]

    @property
    def hash(self) -> str:
        """Identity of this version of the category, 16 hexadecimal digits.

        Functions cannot be hashed reliably, so a change in one is declared by raising `version`; texts and numbers
        count by themselves.
        """
        facts = [self.id, self.version, self.tier, self.observed, self.question, list(self.quantity.names)]
        facts += [self.quantity.unit, [[level.noise, level.energy_factor] for level in self.levels]]
        facts += [] if self.published else ["not published"]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def constant(value: float) -> Callable[[Parameters], float]:
    """A gamma that does not depend on the draw."""
    return lambda _: value


def velocity_gamma(velocity: float, momentum_span: float, energy_span: float) -> float:
    """First-order propagation of the published tolerances to a slope: `|v| hypot(gamma_k/Dk, gamma_E/DE)`, eV A."""
    return abs(velocity) * float(np.hypot(GAMMA_MOMENTUM / momentum_span, GAMMA_ENERGY / energy_span))
