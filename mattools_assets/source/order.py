"""The order in which objects are documented: callees first, in levels that can be worked on at once.

An edge between an object and what contains it (a method that makes an instance of its own class) orders nothing, and a
class does not wait for its methods: in pymatgen that would tie 558 objects into one cycle. What remains of cycles,
functions that call each other, stays together as a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx

from mattools_assets.source.references import Reference
from mattools_assets.source.tree import CodeObject


@dataclass(frozen=True, slots=True)
class Order:
    """`levels[n]` are groups that refer only to levels below `n` and to themselves; a group is a tuple of indices.

    `callees` maps each documented object to those it refers to that an order can respect, itself left out.
    """

    levels: tuple[tuple[tuple[int, ...], ...], ...]
    callees: dict[int, tuple[int, ...]]

    def level_of(self) -> dict[int, int]:
        """The level of each object."""
        return {index: n for n, groups in enumerate(self.levels) for group in groups for index in group}

    def cycles(self) -> list[tuple[int, ...]]:
        """The groups of more than one object, the largest first."""
        found = [group for groups in self.levels for group in groups if len(group) > 1]
        return sorted(found, key=lambda group: (-len(group), group))


def callees_first(objects: Sequence[CodeObject], references: Iterable[Reference]) -> Order:
    """The order of all documented objects."""
    graph = nx.DiGraph()
    graph.add_nodes_from(item.index for item in objects if item.kind.is_documented)
    inside = [_ancestors(objects, item) for item in objects]
    for reference in references:
        source, target = reference.source, reference.target
        related = source == target or source in inside[target] or target in inside[source]
        if source in graph and target in graph and not related:
            graph.add_edge(target, source)
    condensed = nx.condensation(graph)
    groups = {node: tuple(sorted(data["members"])) for node, data in condensed.nodes(data=True)}
    levels = tuple(
        tuple(sorted(groups[node] for node in generation)) for generation in nx.topological_generations(condensed)
    )
    return Order(levels, {index: tuple(sorted(graph.predecessors(index))) for index in sorted(graph)})


def _ancestors(objects: Sequence[CodeObject], item: CodeObject) -> frozenset[int]:
    found = []
    parent = item.parent
    while parent is not None:
        found.append(parent)
        parent = objects[parent].parent
    return frozenset(found)
