"""From a category to its problems: four shared draws, five levels, seeded by identity alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from cme_assets.physics.noise import speck_field
from cme_assets.physics.resolution import Instrument, pixel_response, resolve
from cme_assets.physics.types import Array
from cme_assets.tasks.category import Category, Given, Level, Listed, MapAxes, MapKind
from cme_assets.tasks.ranges import Parameters, draw

DRAWS = 4
EXAMPLES = 3
"""Draws 0, 1, 2 are the worked examples, draw 3 is the question."""


def problem_id(category: Category, level: int) -> str:
    """The display name of a problem, such as `B3-L2`."""
    return f"{category.id}-L{level}"


def generator(*identity: str | int) -> np.random.Generator:
    """A random generator that depends on nothing but `identity`."""
    digest = hashlib.sha256("/".join(str(part) for part in identity).encode()).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(digest, "big"))))


@lru_cache(maxsize=2048)
def draw_parameters(category: Category, index: int) -> Parameters:
    """The parameters of draw `index` (0 to 3), shared by all levels and resolutions of the category."""
    return draw(category.ranges, category.accept, generator(category.id, "draw", index))


@dataclass(frozen=True)
class Sample:
    """One draw of a category on a table of a given size: everything about a map but the instrument and the noise."""

    category: Category
    index: int
    size: int

    @cached_property
    def parameters(self) -> Parameters:
        return draw_parameters(self.category, self.index)

    @cached_property
    def axes(self) -> MapAxes:
        return MapAxes.of(self.category.window(self.parameters), self.size)

    @cached_property
    def listed(self) -> Listed | None:
        """The rows or columns that an array answer is asked for."""
        return self.category.listed(self.parameters, self.axes) if self.category.listed else None

    @cached_property
    def truth(self) -> Array:
        """The exact answer, (number of values,), in the quantity's unit."""
        return np.asarray(self.category.truth(self.parameters, self.axes), dtype=float)

    @cached_property
    def gamma(self) -> float:
        """Half width of the Lorentzian score, in the quantity's unit."""
        return self.category.gamma(self.parameters)

    @cached_property
    def given(self) -> tuple[Given, ...]:
        return self.category.given(self.parameters)


def kernel_sigmas(kind: MapKind, level: Level, instrument: Instrument) -> tuple[float, float]:
    """Standard deviations of the kernel along y and x: eV or 1/Angstrom as the axes are."""
    momentum = instrument.sigma_momentum()
    if kind is MapKind.MOMENTUM_MOMENTUM:
        return momentum, momentum
    return instrument.sigma_energy(level.energy_factor), momentum


def clean_map(sample: Sample, level: Level, instrument: Instrument) -> Array:
    """The map after resolution, without noise, (size, size), in the model's arbitrary unit."""
    sigma_y, sigma_x = kernel_sigmas(sample.category.map_kind, level, instrument)
    y, x = sample.axes.y, sample.axes.x
    fine_y, fine_x = y.fine(sigma_y), x.fine(sigma_x)
    intensity = sample.category.intensity(sample.parameters, fine_x, fine_y)
    return resolve(intensity, pixel_response(y, fine_y, sigma_y), pixel_response(x, fine_x, sigma_x))


def noise_map(sample: Sample, level_index: int) -> Array:
    """The level's speck field for this draw, mean one over the window, (size, size)."""
    rng = generator(sample.category.id, "specks", level_index, sample.index)
    return speck_field(rng, sample.category.specks, sample.axes.y, sample.axes.x)


@dataclass(frozen=True)
class NoisyMap:
    """A measured map and how strong its noise is: both ratios are to the clean map's peak."""

    values: Array
    rms_over_peak: float
    pedestal_over_peak: float


def add_noise(clean: Array, field: Array, level: Level) -> NoisyMap:
    """`clean + r max(clean) field`: the pedestal is the noise's mean, the rms its spread about that mean."""
    noise = level.noise * field
    return NoisyMap(clean + noise * clean.max(), float(noise.std()), float(noise.mean()))
