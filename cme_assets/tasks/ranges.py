"""Declared ranges of the parameters and how a draw is taken from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Parameters = Mapping[str, Any]
"""One draw: numbers (and names of variants) by parameter name, in eV, 1/Angstrom and K."""

MAX_REDRAWS = 10_000


class Range(Protocol):
    """Anything that one parameter can be drawn from."""

    def draw(self, rng: np.random.Generator) -> Any: ...


@dataclass(frozen=True)
class Uniform:
    """Uniform between `low` and `high`."""

    low: float
    high: float

    def draw(self, rng: np.random.Generator) -> float:
        return float(rng.uniform(self.low, self.high))


@dataclass(frozen=True)
class SignedUniform:
    """Magnitude uniform between `low` and `high`, sign + or - with equal chance."""

    low: float
    high: float

    def draw(self, rng: np.random.Generator) -> float:
        return float(rng.uniform(self.low, self.high) * rng.choice((-1.0, 1.0)))


@dataclass(frozen=True)
class Choice:
    """One of `values`, with equal chance or the `weights` given."""

    values: tuple[Any, ...]
    weights: tuple[float, ...] | None = None

    def draw(self, rng: np.random.Generator) -> Any:
        return self.values[int(rng.choice(len(self.values), p=self.weights))]


Declared = Range | Callable[[dict[str, Any]], Any]
"""A range, or a function of the parameters drawn before it: of a range, or of the parameter's value itself."""


def draw(
    ranges: Mapping[str, Declared], accept: Callable[[Parameters], bool], rng: np.random.Generator
) -> dict[str, Any]:
    """One draw, in the order declared, repeated until `accept` holds. Raises RuntimeError after MAX_REDRAWS."""
    for _ in range(MAX_REDRAWS):
        parameters: dict[str, Any] = {}
        for name, declared in ranges.items():
            value = declared(parameters) if callable(declared) else declared
            parameters[name] = value.draw(rng) if hasattr(value, "draw") else value
        if accept(parameters):
            return parameters
    raise RuntimeError(f"no draw in {MAX_REDRAWS} was accepted: the ranges and the condition exclude each other")


def always(_: Parameters) -> bool:
    """The condition that every draw meets."""
    return True
