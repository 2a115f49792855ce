"""The categories' pictures: maps from the lake with their axes, and the exact answer drawn where it is a place.

Shown is the first worked example, which every prompt gives away, and never the question.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cme_assets.page.charts import Scale
from cme_assets.physics.types import Array
from cme_assets.pictures import png
from cme_assets.schemas import NOISY_SPECTRA, PROBLEMS
from resources.lake import Lake, LakeError

EXAMPLE = 0
PIXELS = 100
"""Side of a picture; larger maps are averaged down to about this."""
DOMAINS = {
    "A": "Fermi edge",
    "B": "Dispersions and gaps",
    "C": "Line widths",
    "D": "Electron-boson coupling",
    "E": "Fermi surfaces",
    "F": "Lattice and spin excitations",
    "G": "Charge and orbital excitations",
}
OTHER_DOMAIN = "Beyond the published domains"
AXES = {
    "EK": ("momentum k (1/Å)", "energy E (eV)"),
    "KK": ("momentum kx (1/Å)", "momentum ky (1/Å)"),
    "QW": ("momentum q (1/Å)", "energy loss (eV)"),
}
ON_Y = frozenset({"E_F", "E_bottom", "E_D", "E", "w", "w_0", "w_1", "w_2", "w_3", "w_p"})
"""Answers that are places on the vertical axis; others (widths, velocities, dopings …) are nowhere in the map."""
ON_X = frozenset({"k", "q_CO"})
LEFT, TOP, WIDTH, HEIGHT = 52.0, 6.0, 160.0, 160.0
"""Where the map is in its drawing: square as the tables are, which gives momentum maps equal scales."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Picture:
    """One map as an inline SVG: the image, tick marks and, as polylines, the exact answer."""

    caption: str
    alt: str
    image: str
    x_label: str
    y_label: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    answer: tuple[str, ...]


@dataclass(frozen=True)
class Card:
    """One category of the gallery."""

    id: str
    title: str
    tier: int
    asked: str
    unit: str
    tolerance: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Domain:
    """The cards of one letter."""

    letter: str
    title: str
    cards: tuple[Card, ...]


def read_gallery(lake: Lake, resolution: int) -> list[Domain]:
    """All categories in the lake, with maps of `resolution` or else of the next best. Raises LakeError."""
    categories = sorted((key["category"] for key in lake.keys(PROBLEMS)), key=category_order)
    cards = [_card(lake, category, resolution) for category in categories]
    return [
        Domain(letter, domain_title(letter), tuple(card for card in cards if card.id[0] == letter))
        for letter in sorted({card.id[0] for card in cards})
    ]


def domain_title(letter: str) -> str:
    """What the domain is about; categories of one's own may be in others than the published ones."""
    return DOMAINS.get(letter, OTHER_DOMAIN)


def category_order(category: str) -> tuple[str, int]:
    """Sorts B10 after B9."""
    return category[0], int(category[1:])


def _card(lake: Lake, category: str, resolution: int) -> Card:
    problems = lake.read(PROBLEMS, {"category": category}).to_pylist()
    size = min((row["resolution"] for row in problems), key=lambda size: (abs(size - resolution), size))
    levels = sorted((r for r in problems if r["resolution"] == size and r["draw"] == EXAMPLE), key=_level)
    first = levels[0]
    names = ", ".join(first["quantity"])
    many = f"{names} at {len(first['truth'])} {'columns' if first['listed_axis'] == 'x' else 'rows'}"
    return Card(
        id=category,
        title=first["title"],
        tier=first["tier"],
        asked=many if first["shape"] == "array" else names,
        unit=first["unit"].replace("Angstrom", "Å"),
        tolerance=f"{first['gamma']:.3g}",
        pictures=tuple(_pictures(lake, category, size, levels)),
    )


def _pictures(lake: Lake, category: str, size: int, levels: Sequence[Row]) -> list[Picture]:
    """The least and the most difficult level; none while the maps have not been made."""
    try:
        maps = lake.read(NOISY_SPECTRA, {"category": category})
    except LakeError:
        if lake.path(NOISY_SPECTRA, {"category": category}).exists():
            raise
        return []
    ends = (levels[0], levels[-1])
    return [_picture(maps, size, problem, answered=problem is levels[0]) for problem in ends]


def _picture(maps: pa.Table, size: int, problem: Row, *, answered: bool) -> Picture:
    chosen = maps.filter(
        (pc.field("resolution") == size) & (pc.field("level") == problem["level"]) & (pc.field("draw") == EXAMPLE)
    )
    values = chosen.column("intensity").combine_chunks().values.to_numpy().reshape(size, size)
    rows, columns = chosen.column("row_values")[0].as_py(), chosen.column("column_values")[0].as_py()
    x, y = _edges(columns, LEFT, LEFT + WIDTH), _edges(rows, TOP + HEIGHT, TOP)
    x_label, y_label = AXES[problem["map_kind"]]
    difficulty = _difficulty(problem)
    return Picture(
        caption=f"level {problem['level']}: {difficulty}",
        alt=f"Intensity map of {problem['title']} over {x_label} and {y_label}, {difficulty}",
        image=base64.b64encode(png(_smaller(values), PIXELS)).decode(),
        x_label=x_label,
        y_label=y_label,
        x_ticks=x.ticks(),
        y_ticks=y.ticks(),
        answer=_answer(problem, rows, columns, x, y) if answered else (),
    )


def _difficulty(problem: Row) -> str:
    if problem["energy_factor"] != 1:
        return f"energy resolution × {problem['energy_factor']:g}"
    return f"noise {100 * problem['noise']:.0f} % of the peak" if problem["noise"] else "no noise"


def _answer(problem: Row, rows: list[float], columns: list[float], x: Scale, y: Scale) -> tuple[str, ...]:
    """The exact answer as polylines, where it is a place in the map."""
    run = slice(problem["listed_first"], (problem["listed_last"] or 0) + 1)
    lines = []
    if problem["shape"] == "array":
        (name,) = problem["quantity"]
        if name in ON_X:
            lines = [[(x(at), y(row)) for at, row in zip(problem["truth"], rows[run], strict=True)]]
        elif name in ON_Y:
            lines = [[(x(column), y(at)) for column, at in zip(columns[run], problem["truth"], strict=True)]]
    else:
        for name, value in zip(problem["quantity"], problem["truth"], strict=True):
            if name in ON_X:
                lines.append([(x(value), TOP), (x(value), TOP + HEIGHT)])
            elif name in ON_Y:
                lines.append([(LEFT, y(value)), (LEFT + WIDTH, y(value))])
    return tuple(" ".join(f"{across},{down}" for across, down in line) for line in lines)


def _edges(centres: list[float], start: float, stop: float) -> Scale:
    """The scale on which the first and last pixel's outer edges are at `start` and `stop`."""
    half = (centres[-1] - centres[0]) / (len(centres) - 1) / 2
    return Scale(centres[0] - half, centres[-1] + half, start, stop)


def _smaller(values: Array) -> Array:
    """A map averaged over whole blocks, so that it has no more than about PIXELS rows and columns."""
    block = max(1, len(values) // PIXELS)
    kept = len(values) // block * block
    return values[:kept, :kept].reshape(kept // block, block, kept // block, block).mean(axis=(1, 3))


def _level(problem: Row) -> int:
    return int(problem["level"])
