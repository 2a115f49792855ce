"""Pictures of a source for the Dagster UI, as PNG in Markdown: its tree, its levels, its call graph."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import networkx as nx
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from mattools_assets.source.order import Order
from mattools_assets.source.reading import SourceFile
from mattools_assets.source.references import Reference
from mattools_assets.source.tree import CodeObject

DOTS_AN_INCH = 80
DEEPEST = 3
DRAWN_OBJECTS = 60
COLOURS = 16
"""Few, because Dagster keeps the pictures in every event."""


def tree(files: Iterable[SourceFile]) -> str:
    """Folders as nested bars from top to bottom, their width the number of lines below them, down to three levels."""
    sizes: Counter[PurePosixPath] = Counter()
    for file in files:
        for folder in list(PurePosixPath(file.path).parents)[:-1]:
            sizes[folder] += file.lines
    figure = Figure(figsize=(11, 2.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, 1)
    axes.set_ylim(-DEEPEST, 0)
    axes.axis("off")
    total = sum(size for folder, size in sizes.items() if len(folder.parts) == 1) or 1
    starts: dict[PurePosixPath, float] = {PurePosixPath("."): 0.0}
    for folder in sorted(sizes, key=lambda folder: (len(folder.parts), -sizes[folder], folder.as_posix())):
        depth, width = len(folder.parts), sizes[folder] / total
        start = starts[folder.parent]
        starts[folder.parent] = start + width
        starts[folder] = start
        if depth <= DEEPEST:
            shade = 0.88 - 0.12 * (depth - 1)
            axes.add_patch(
                Rectangle((start, -depth), width, 0.97, facecolor=(0.6, shade, 0.95), edgecolor="white", linewidth=1)
            )
            if width > 0.012 * len(folder.name):
                label = f"{folder.name}\n{sizes[folder]:,}"
                axes.text(start + width / 2, 0.5 - depth, label, ha="center", va="center", fontsize=8)
    return _markdown("tree of folders by lines", figure)


def levels(order: Order) -> str:
    """How many objects each level has, lowest first."""
    counts = [sum(len(group) for group in groups) for groups in order.levels]
    figure = Figure(figsize=(7, 2.4), layout="constrained")
    axes = figure.add_subplot()
    axes.bar(range(len(counts)), counts, color="tab:blue")
    axes.set_yscale("log")
    axes.set_xlabel("level, callees first")
    axes.set_ylabel("objects")
    return _markdown("objects by level", figure)


def graph(objects: Sequence[CodeObject], references: Iterable[Reference], order: Order) -> str:
    """The most referenced objects and the references among them; height is the level, size the number of callers."""
    level_of = order.level_of()
    pairs = [(r.source, r.target) for r in references if r.source in level_of and r.target in level_of]
    callers = Counter(target for _, target in pairs)
    shown = [index for index, _ in callers.most_common(DRAWN_OBJECTS)]
    drawn = nx.DiGraph()
    drawn.add_nodes_from(shown)
    drawn.add_edges_from((source, target) for source, target in pairs if source in drawn and target in drawn)
    rows: dict[int, list[int]] = {}
    for index in shown:
        rows.setdefault(level_of[index], []).append(index)
    places = {
        index: ((place + 1) / (len(row) + 1), float(level))
        for level, row in rows.items()
        for place, index in enumerate(row)
    }
    figure = Figure(figsize=(11, 6), layout="constrained")
    axes = figure.add_subplot()
    if shown:
        sizes = [20 + 1.5 * callers[index] for index in drawn]
        nx.draw_networkx_edges(drawn, places, ax=axes, alpha=0.25, arrowsize=6, width=0.6)
        nx.draw_networkx_nodes(drawn, places, ax=axes, node_size=sizes, node_color="tab:orange", alpha=0.8)
        for index in shown[: DRAWN_OBJECTS // 2]:
            axes.text(*places[index], f" {objects[index].qualified_name}", fontsize=7, rotation=25)
    axes.set_ylabel("level, callees first")
    axes.tick_params(left=True, labelleft=True)
    return _markdown("the most referenced objects", figure)


def _markdown(title: str, figure: Figure) -> str:
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_AN_INCH)
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(small, "PNG", optimize=True)
    return f"![{title}](data:image/png;base64,{base64.b64encode(small.getvalue()).decode()})"
