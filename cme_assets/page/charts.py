"""Where the lines and marks of the page's drawings go. Coordinates are SVG user units, y downwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.ticker import MaxNLocator

COLOURS = 8
"""Series that are told apart by colour; the next ones repeat the colours with broken lines."""


@dataclass(frozen=True)
class Scale:
    """A linear map from values `low` to `high` onto drawing coordinates `start` to `stop`."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """The coordinate of `value`, to a hundredth of a unit."""
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start), 2)

    def ticks(self, about: int = 4) -> list[tuple[float, str]]:
        """Coordinates and labels of round values within the scale, as many decimals as they need."""
        low, high = sorted((self.low, self.high))
        values = [v for v in MaxNLocator(about, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= v <= high]
        decimals = max((len(f"{v:.6f}".rstrip("0").partition(".")[2]) for v in values), default=0)
        return [(self(v), f"{v:.{decimals}f}".replace("-", "−")) for v in values]


@dataclass(frozen=True)
class Mark:
    """One point with its interval, in drawing coordinates, and what it says."""

    x: float
    y: float
    low: float | None
    high: float | None
    title: str


@dataclass(frozen=True)
class Series:
    """One line of a chart. `style` counts through colours and dashes; None is for published figures."""

    label: str
    style: int | None
    marks: tuple[Mark, ...]
    label_y: float = 0.0

    @property
    def path(self) -> str:
        """The points as an SVG polyline."""
        return " ".join(f"{mark.x},{mark.y}" for mark in self.marks)

    @property
    def classes(self) -> str:
        """CSS classes of its colour and dash."""
        return "published" if self.style is None else f"c{self.style % COLOURS} d{self.style // COLOURS}"


@dataclass(frozen=True)
class Chart:
    """A chart of scores, 0 to `y.low`, over a few places along x."""

    x: Scale
    y: Scale
    places: tuple[tuple[float, str], ...]
    series: tuple[Series, ...]


Point = tuple[float, float, float | None, float | None]
"""x, score, lower and upper end of its interval."""


def score_chart(
    lines: Sequence[tuple[str, int | None, Sequence[Point]]], places: Sequence[tuple[float, str]], about: str
) -> Chart:
    """Scores over `places`, (x, label) in rising x. Series of one chart are moved apart a little, so that intervals
    do not hide each other; the labels at their ends keep their distance."""
    tops = [max(score, high or 0.0) for _, _, points in lines for _, score, _, high in points]
    highest = min(1.0, max([0.25, *tops]) * 1.08)
    x = Scale(places[0][0], places[-1][0], 64, 500)
    y = Scale(0.0, highest, 290, 16)
    series = []
    for index, (label, style, points) in enumerate(lines):
        shift = (index - (len(lines) - 1) / 2) * min(5.0, 30 / len(lines))
        marks = [
            Mark(
                round(x(at) + shift, 2),
                y(score),
                None if low is None else y(low),
                None if high is None else y(high),
                f"{label}, {about} {at:g}: {score:.3f}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]"),
            )
            for at, score, low, high in points
        ]
        if marks:
            series.append(Series(label, style, tuple(marks), marks[-1].y))
    return Chart(x, y, tuple((x(at), label) for at, label in places), tuple(_spread_labels(series)))


def _spread_labels(series: list[Series], distance: float = 14.0, bottom: float = 294.0) -> list[Series]:
    """The series with their labels moved up until they no longer overlap, lowest first."""
    free = bottom
    placed = []
    for one in sorted(series, key=lambda s: -s.label_y):
        at = min(one.label_y + 4, free)
        free = at - distance
        placed.append(replace(one, label_y=round(at, 2)))
    return placed
