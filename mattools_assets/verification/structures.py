"""Comparison of pymatgen's structures and compositions by the dictionaries in which they describe themselves.

A structure is right when its lattice has the expected lengths and angles and each expected site is matched by one site
of its own, in any order and up to lattice translations. Rotations of the whole crystal do not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from resources.sandbox.decoding import MsonObject

STRUCTURE_CLASSES = ("pymatgen.core.structure.Structure", "pymatgen.core.structure.IStructure")
COMPOSITION_CLASS = "pymatgen.core.composition.Composition"
ANGLE_TOLERANCE = 0.05  # degrees
CELL = ("a", "b", "c", "alpha", "beta", "gamma")


@dataclass(frozen=True)
class Problem:
    """Why an object is not the expected one; `is_type` when it is not even of its class."""

    message: str
    is_type: bool = False


def compare_structure(got: Any, wanted: dict[str, Any], tolerance: float) -> Problem | None:
    """None when `got` is the structure `{"cell": [a, b, c, alpha, beta, gamma], "sites": [[element, x, y, z], …]}`.

    `cell` in Å and degrees, sites in fractional coordinates; `tolerance` in Å.
    """
    if not isinstance(got, MsonObject) or got.type_name not in STRUCTURE_CLASSES:
        return Problem(f"expected a Structure, got {type_of(got)}", is_type=True)
    try:
        lattice = got.data["lattice"]
        cell = [_number(lattice[name]) for name in CELL]
        sites = [_site(site) for site in got.data["sites"]] if len(got.data["sites"]) == len(wanted["sites"]) else None
    except (KeyError, TypeError, ValueError, IndexError):
        return Problem("expected a Structure, got one whose dictionary cannot be read", is_type=True)
    if sites is None:
        return Problem(f"expected {len(wanted['sites'])} sites, got {len(got.data['sites'])}")
    allowed = (tolerance,) * 3 + (ANGLE_TOLERANCE,) * 3
    if any(not abs(one - other) <= most for one, other, most in zip(cell, wanted["cell"], allowed, strict=True)):
        return Problem(f"expected the cell {wanted['cell']}, got {[round(value, 4) for value in cell]}")
    for element, *position in wanted["sites"]:
        match = next(
            (site for site in sites if site[0] == element and _near(site[1:], position, cell, tolerance)), None
        )
        if match is None:
            return Problem(f"no {element} at {position}")
        sites.remove(match)
    return None


def compare_composition(got: Any, wanted: dict[str, float], tolerance: float) -> Problem | None:
    """None when `got` is the Composition with the amounts `wanted` by element symbol."""
    if not isinstance(got, MsonObject) or got.type_name != COMPOSITION_CLASS:
        return Problem(f"expected a Composition, got {type_of(got)}", is_type=True)
    try:
        amounts = {str(name): _number(amount) for name, amount in got.data.items() if not str(name).startswith("@")}
    except (TypeError, ValueError):
        return Problem("expected a Composition, got one whose dictionary cannot be read", is_type=True)
    right = amounts.keys() == wanted.keys() and all(abs(amounts[name] - wanted[name]) <= tolerance for name in wanted)
    return None if right else Problem(f"expected {wanted}, got {str(amounts)[:200]}")


def type_of(value: Any) -> str:
    """Name of the class that a decoded value had inside the sandbox."""
    return str(getattr(value, "type_name", type(value).__name__))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _site(site: dict[str, Any]) -> tuple[Any, ...]:
    """Element and fractional coordinates of a fully occupied site."""
    (species,) = site["species"]
    if species["occu"] != 1:
        raise ValueError
    return (str(species["element"]), *(_number(value) for value in site["abc"]))


def _near(got: tuple[float, ...], wanted: list[float], cell: list[float], tolerance: float) -> bool:
    """Whether two positions agree along each axis, up to lattice translations."""
    return len(got) == 3 and all(
        abs((one - other + 0.5) % 1 - 0.5) * length <= tolerance
        for one, other, length in zip(got, wanted, cell[:3], strict=True)
    )
