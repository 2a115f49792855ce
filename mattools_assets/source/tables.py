"""The tables of a source, its objects, references and problems: schemas, and rows as Arrow tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from mattools_assets.source.order import Order
from mattools_assets.source.problems import Problem
from mattools_assets.source.references import Reference
from mattools_assets.source.tree import CodeObject


def _field(name: str, kind: pa.DataType, meaning: str, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"description": meaning})


_TEXT, _COUNT = pa.string(), pa.int32()
_DICTIONARY = pa.dictionary(pa.int8(), pa.string())

CODE_OBJECTS = pa.schema(
    [
        _field("object_id", _TEXT, "file:qualified_name:start_line, unique; for a container its path"),
        _field("kind", _DICTIONARY, "package, folder, file, class, method, function or nested_function"),
        _field("name", _TEXT, "last part of the qualified name, or of the path"),
        _field(
            "qualified_name", _TEXT, "names of the enclosing classes and functions, and its own; empty for containers"
        ),
        _field("file", _TEXT, "path below the root of the source, of a container its own"),
        _field("start_line", _COUNT, "line of def or class, from 1; 0 for containers"),
        _field("end_line", _COUNT, "last line; for a file its number of lines"),
        _field("parent_id", _TEXT, "object_id of what contains it", nullable=True),
        _field("decorators", pa.list_(_TEXT), "decorators without the @, outermost first"),
        _field("signature", _TEXT, "the whole head on one line; empty for containers"),
        _field("docstring", _TEXT, "cleaned as inspect.getdoc does; empty when there is none"),
        _field("code", _TEXT, "source text from the first decorator on; of a file all of it"),
        _field("callees", _COUNT, "how many objects it refers to"),
        _field("callers", _COUNT, "how many objects refer to it"),
        _field("level", _COUNT, "place in the order, callees first; null for containers", nullable=True),
        _field("group_id", _TEXT, "first object_id of its cycle, its own when it is in none", nullable=True),
    ]
)

REFERENCES = pa.schema(
    [
        _field("source_id", _TEXT, "object_id of what refers; a file for statements at module level"),
        _field("target_id", _TEXT, "object_id of what is referred to"),
        _field("kind", _DICTIONARY, "call, inherit, decorate, use, hint or import: the first of these that applies"),
        _field("certainty", _DICTIONARY, "exact, typed, ambiguous or name_only: the surest of the mentions"),
        _field("line", _COUNT, "line of the first mention, in the source's file"),
        _field("mentions", _COUNT, "how often it is mentioned"),
    ]
)

SOURCE_PROBLEMS = pa.schema(
    [
        _field("file", _TEXT, "path below the root of the source"),
        _field("line", _COUNT, "line, from 1; 0 for the whole file"),
        _field(
            "kind", _DICTIONARY, "encoding, unreadable, link, syntax, empty, identical, large_literal, duplicate_key"
        ),
        _field("message", _TEXT, "what was found and what was done about it"),
    ]
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
    return _table(columns, CODE_OBJECTS)


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
    return _table(columns, REFERENCES)


def problems_table(problems: Sequence[Problem]) -> pa.Table:
    """One row a finding."""
    columns = {
        "file": [problem.file for problem in problems],
        "line": [problem.line for problem in problems],
        "kind": [problem.kind.value for problem in problems],
        "message": [problem.message for problem in problems],
    }
    return _table(columns, SOURCE_PROBLEMS)


def _table(columns: Mapping[str, object], schema: pa.Schema) -> pa.Table:
    arrays = [pa.array(columns[field.name], type=field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _storable(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate, which only an escape in a docstring can make, becomes `\\udXXX`."""
    return text.encode("utf-8", "backslashreplace").decode() if not text.isascii() else text
