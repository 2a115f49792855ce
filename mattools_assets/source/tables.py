"""The tables of a source, its objects, references and problems: schemas, and rows as Arrow tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pyarrow as pa

from mattools_assets.source.order import Order
from mattools_assets.source.problems import Problem
from mattools_assets.source.references import Reference
from mattools_assets.source.tree import CodeObject
from resources.lake import Column, LakeTable

_TEXT, _WHOLE = pa.string(), pa.int64()

TOOL_SOURCE = LakeTable(
    "tool_source",
    "The source that questions and documents are about: one row for each of its files.",
    (),
    (
        Column("file", _TEXT, "path below the root of the source"),
        Column("lines", _WHOLE, "number of lines, counted by line ends"),
        Column("sha256", _TEXT, "digest of the file's bytes"),
        Column("origin", _TEXT, "pypi, folder or git"),
        Column("specification", _TEXT, "what was asked for: packages with versions, a folder, or a commit"),
        Column("parts", pa.list_(_TEXT), "what it was put together from: name, version or commit, digest of a wheel"),
    ),
)

CODE_OBJECTS = LakeTable(
    "code_objects",
    "The tree of a source: one row for each package, folder, file, class, method and function.",
    (),
    (
        Column("object_id", _TEXT, "file:qualified_name:start_line, unique; for a container its path"),
        Column("kind", _TEXT, "package, folder, file, class, method, function or nested_function"),
        Column("name", _TEXT, "last part of the qualified name, or of the path"),
        Column("qualified_name", _TEXT, "names of what encloses it, and its own, with dots; empty for containers"),
        Column("file", _TEXT, "path below the root of the source, of a container its own"),
        Column("start_line", _WHOLE, "line of def or class, from 1; 0 for containers"),
        Column("end_line", _WHOLE, "last line; for a file its number of lines"),
        Column("parent_id", _TEXT, "object_id of what contains it", nullable=True),
        Column("decorators", pa.list_(_TEXT), "decorators without the @, outermost first"),
        Column("signature", _TEXT, "the whole head on one line; empty for containers"),
        Column("docstring", _TEXT, "cleaned as inspect.getdoc does; empty when there is none"),
        Column("code", _TEXT, "source text from the first decorator on; of a file all of it"),
        Column("callees", _WHOLE, "how many objects it refers to"),
        Column("callers", _WHOLE, "how many objects refer to it"),
        Column("level", _WHOLE, "place in the order, callees first, from 0; null for containers", nullable=True),
        Column("group_id", _TEXT, "first object_id of its cycle, its own when it is in none", nullable=True),
    ),
)

REFERENCES = LakeTable(
    "references",
    "The call graph: one row for each pair of objects of which one refers to the other.",
    (),
    (
        Column("source_id", _TEXT, "object_id of what refers; a file for statements at module level"),
        Column("target_id", _TEXT, "object_id of what is referred to"),
        Column("kind", _TEXT, "call, inherit, decorate, use, hint or import: the first of these that applies"),
        Column("certainty", _TEXT, "exact, typed, ambiguous or name_only: the surest of the mentions"),
        Column("line", _WHOLE, "line of the first mention, in the source's file"),
        Column("mentions", _WHOLE, "how often it is mentioned"),
    ),
)

SOURCE_PROBLEMS = LakeTable(
    "source_problems",
    "What could not be read as it should, and what was done about it: one row a finding.",
    (),
    (
        Column("file", _TEXT, "path below the root of the source"),
        Column("line", _WHOLE, "line, from 1; 0 for the whole file"),
        Column("kind", _TEXT, "what kind of finding, as ProblemKind lists them"),
        Column("message", _TEXT, "what was found and what was done about it"),
    ),
)


def object_id(item: CodeObject) -> str:
    """Unique name of an object in its source."""
    return f"{item.file}:{item.qualified_name}:{item.start_line}" if item.kind.is_documented else item.file


def code_objects_table(objects: Sequence[CodeObject], references: Iterable[Reference], order: Order) -> pa.Table:
    """One row an object, in the tree's order."""
    ids = [object_id(item) for item in objects]
    pairs = [(reference.source, reference.target) for reference in references]
    callees, callers = Counter(source for source, _ in pairs), Counter(target for _, target in pairs)
    level_of = order.level_of()
    group_of = {index: ids[group[0]] for groups in order.levels for group in groups for index in group}
    columns = {
        "object_id": ids,
        "kind": [item.kind.value for item in objects],
        "name": [item.name for item in objects],
        "qualified_name": [item.qualified_name for item in objects],
        "file": [item.file for item in objects],
        "start_line": [item.start_line for item in objects],
        "end_line": [item.end_line for item in objects],
        "parent_id": [None if item.parent is None else ids[item.parent] for item in objects],
        "decorators": [list(item.decorators) for item in objects],
        "signature": [_storable(item.signature) for item in objects],
        "docstring": [_storable(item.docstring) for item in objects],
        "code": [_storable(item.code) for item in objects],
        "callees": [callees[item.index] for item in objects],
        "callers": [callers[item.index] for item in objects],
        "level": [level_of.get(item.index) for item in objects],
        "group_id": [group_of.get(item.index) for item in objects],
    }
    return pa.table(columns, schema=CODE_OBJECTS.schema)


def references_table(objects: Sequence[CodeObject], references: Sequence[Reference]) -> pa.Table:
    """One row for each pair of objects of which one refers to the other."""
    columns = {
        "source_id": [object_id(objects[reference.source]) for reference in references],
        "target_id": [object_id(objects[reference.target]) for reference in references],
        "kind": [reference.kind.name.lower() for reference in references],
        "certainty": [reference.certainty.name.lower() for reference in references],
        "line": [reference.line for reference in references],
        "mentions": [reference.mentions for reference in references],
    }
    return pa.table(columns, schema=REFERENCES.schema)


def problems_table(problems: Sequence[Problem]) -> pa.Table:
    """One row a finding."""
    columns = {
        "file": [problem.file for problem in problems],
        "line": [problem.line for problem in problems],
        "kind": [problem.kind.value for problem in problems],
        "message": [problem.message for problem in problems],
    }
    return pa.table(columns, schema=SOURCE_PROBLEMS.schema)


def _storable(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate, which only an escape in a docstring can make, becomes `\\udXXX`."""
    return text.encode("utf-8", "backslashreplace").decode() if not text.isascii() else text
