"""What documenting needs of a source: its documented objects and who refers to whom, read from the two tables."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import pyarrow as pa

from mattools_assets.source.tree import Kind


@dataclass(frozen=True, slots=True)
class Documented:
    """A class, method or function, with the columns of `code_objects` that a document is written from."""

    object_id: str
    kind: Kind
    qualified_name: str
    file: str
    parent_id: str
    signature: str
    decorators: tuple[str, ...]
    docstring: str
    code: str
    level: int
    group_id: str


@dataclass(frozen=True, slots=True)
class CodeGraph:
    """Objects by id, in the tables' order. Callees and callers are other objects, the most mentioned first.

    `waits_for` are the callees on lower levels: those whose documents come first. `members` are what a class or
    function contains directly. `groups` maps a cycle's id to its objects, for cycles of more than one.
    """

    objects: dict[str, Documented]
    callees: dict[str, tuple[str, ...]]
    callers: dict[str, tuple[str, ...]]
    waits_for: dict[str, tuple[str, ...]]
    members: dict[str, tuple[str, ...]]
    groups: dict[str, tuple[str, ...]]

    def levels(self) -> list[list[Documented]]:
        """Objects by level, the lowest first."""
        found: defaultdict[int, list[Documented]] = defaultdict(list)
        for item in self.objects.values():
            found[item.level].append(item)
        return [found[level] for level in sorted(found)]

    def fellows(self, item: Documented) -> tuple[str, ...]:
        """The other objects of its cycle."""
        return tuple(other for other in self.groups.get(item.group_id, ()) if other != item.object_id)


def read_graph(code_objects: pa.Table, references: pa.Table) -> CodeGraph:
    """The graph of the tables `code_objects` and `references`."""
    objects = {row["object_id"]: _documented(row) for row in code_objects.to_pylist() if row["level"] is not None}
    callees: defaultdict[str, list[str]] = defaultdict(list)
    callers: defaultdict[str, list[str]] = defaultdict(list)
    for row in sorted(references.to_pylist(), key=lambda row: (-row["mentions"], row["source_id"], row["target_id"])):
        source, target = row["source_id"], row["target_id"]
        if source in objects and target in objects and source != target:
            callees[source].append(target)
            callers[target].append(source)
    members: defaultdict[str, list[str]] = defaultdict(list)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for item in objects.values():
        members[item.parent_id].append(item.object_id)
        groups[item.group_id].append(item.object_id)
    return CodeGraph(
        objects,
        _frozen(callees),
        _frozen(callers),
        {
            source: tuple(target for target in targets if objects[target].level < objects[source].level)
            for source, targets in callees.items()
        },
        _frozen(members),
        {group: tuple(ids) for group, ids in groups.items() if len(ids) > 1},
    )


def _documented(row: dict) -> Documented:
    return Documented(
        row["object_id"],
        Kind(row["kind"]),
        row["qualified_name"],
        row["file"],
        row["parent_id"],
        row["signature"],
        tuple(row["decorators"]),
        row["docstring"],
        row["code"],
        row["level"],
        row["group_id"],
    )


def _frozen(lists: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(values) for key, values in lists.items()}
