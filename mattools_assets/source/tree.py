"""The tree: package, folder, file, class, method, function, nested function.

A file that is not valid Python is parsed as far as it goes: tree-sitter recovers after an error, and definitions are
searched in the whole syntax tree, so that one inside a damaged region is found as well.
"""

from __future__ import annotations

import ast
import inspect
import unicodedata
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from mattools_assets.source.problems import Problem, ProblemKind
from mattools_assets.source.reading import SourceFile

PYTHON = Language(tree_sitter_python.language())
QUERY = Query(
    PYTHON,
    """
    [(class_definition) (function_definition)] @definition
    (aliased_import alias: (identifier) @alias)
    (assignment left: (identifier) right: [(identifier) (attribute)]) @renaming
    (ERROR) @error
    (MISSING) @error
    """,
)
TRAILERS = frozenset({"comment", "line_continuation"})


class Kind(StrEnum):
    """What an object is. A function is named by its direct parent, as RepoAgent and the paper count them.

    `METHOD`: in a class body. `NESTED_FUNCTION`: inside a function or nested function. `FUNCTION`: at module level,
    and also local to a method.
    """

    PACKAGE = "package"
    FOLDER = "folder"
    FILE = "file"
    CLASS = "class"
    METHOD = "method"
    FUNCTION = "function"
    NESTED_FUNCTION = "nested_function"

    @property
    def is_documented(self) -> bool:
        """True for classes and all kinds of function: what gets a document of its own."""
        return self not in CONTAINERS


CONTAINERS = frozenset({Kind.PACKAGE, Kind.FOLDER, Kind.FILE})
_FUNCTION_KINDS = {Kind.CLASS: Kind.METHOD, Kind.FUNCTION: Kind.NESTED_FUNCTION}
_FUNCTION_KINDS[Kind.NESTED_FUNCTION] = Kind.NESTED_FUNCTION


@dataclass(slots=True)
class CodeObject:
    """One node of the tree. (file, qualified_name, start_line) is unique; `index` is its place in the list.

    Lines count from 1; `start_line` is that of the `def` or `class` keyword, while `code` begins with the first
    decorator. A container has lines 0. `parent` is an index, None at the top. `signature` is on one line.
    """

    index: int
    kind: Kind
    name: str
    qualified_name: str
    file: str
    start_line: int
    end_line: int
    parent: int | None
    decorators: tuple[str, ...] = ()
    signature: str = ""
    docstring: str = ""
    code: str = ""
    node: Node | None = field(default=None, repr=False, compare=False)

    def has_decorator(self, name: str) -> bool:
        """True for `@name`, `@module.name` and the same with arguments."""
        return any(text.partition("(")[0].rpartition(".")[2] == name for text in self.decorators)

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells this object from every other one of its source."""
        return self.file, self.qualified_name, self.start_line


@dataclass(slots=True)
class ParsedFile:
    """A file with its syntax tree; `object_index` is that of its file object; node offsets refer to `data`.

    `renamings` are the nodes that may give an object a further name: import aliases and assignments of plain names.
    """

    source: SourceFile
    data: bytes
    tree: Tree
    object_index: int
    objects: list[CodeObject]
    renamings: list[Node]

    def text(self, node: Node) -> str:
        """The source of a node."""
        return _text(self.data, node)


@dataclass(slots=True)
class SourceTree:
    """All objects in depth-first order of files, the parsed files, and what was wrong."""

    objects: list[CodeObject]
    files: list[ParsedFile]
    problems: list[Problem]


def parts_of(node: Node) -> list[Node]:
    """The named children of a node without the comments between them."""
    return [child for child in node.named_children if child.type not in TRAILERS]


def canonical(name: str) -> str:
    """A name in the form in which Python compares it (NFKC): `ﬁ` as one letter is `fi`."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def build_tree(files: Iterable[SourceFile]) -> SourceTree:
    """The tree of `files`. Takes about 10 microseconds a line."""
    tree = SourceTree([], [], [])
    folders: dict[str, int] = {}
    parser = Parser(PYTHON)
    for source in files:
        path = PurePosixPath(source.path)
        parent = _folder(tree.objects, folders, path.parent)
        file_object = CodeObject(
            len(tree.objects), Kind.FILE, path.name, "", source.path, 0, source.lines, parent, code=source.text
        )
        tree.objects.append(file_object)
        data = source.text.encode("utf-8", "surrogatepass")
        parsed = ParsedFile(source, data, parser.parse(data), file_object.index, [], [])
        _add_definitions(tree, parsed)
        file_object.docstring = _docstring(parsed.tree.root_node)
        tree.files.append(parsed)
    return tree


def _folder(objects: list[CodeObject], folders: dict[str, int], path: PurePosixPath) -> int | None:
    """Index of the object of a folder, made when it is the first time; None for the root."""
    name = path.as_posix()
    if name == ".":
        return None
    if name not in folders:
        parent = _folder(objects, folders, path.parent)
        kind = Kind.PACKAGE if parent is None else Kind.FOLDER
        folders[name] = len(objects)
        objects.append(CodeObject(len(objects), kind, path.name, "", name, 0, 0, parent))
    return folders[name]


def _add_definitions(tree: SourceTree, parsed: ParsedFile) -> None:
    captures = QueryCursor(QUERY).captures(parsed.tree.root_node)
    parsed.renamings = captures.get("alias", []) + captures.get("renaming", [])
    errors = captures.get("error", [])
    if parsed.tree.root_node.has_error:
        places = f"{len(errors)} places are" if len(errors) > 1 else "1 place is"
        message = f"{places} not Python 3; the rest of the file is parsed"
        line = _first_error(parsed.tree.root_node).start_point.row + 1
        tree.problems.append(Problem(parsed.source.path, line, ProblemKind.SYNTAX, message))
    open_objects: list[tuple[int, CodeObject]] = []
    keys: set[tuple[str, int]] = set()
    for node in sorted(captures.get("definition", []), key=lambda node: node.start_byte):
        while open_objects and node.start_byte >= open_objects[-1][0]:
            open_objects.pop()
        parent = open_objects[-1][1] if open_objects else tree.objects[parsed.object_index]
        item = _code_object(len(tree.objects), node, parent, parsed)
        if (item.qualified_name, item.start_line) in keys:
            message = f"{item.qualified_name} is defined twice on this line; the second is named with its column"
            tree.problems.append(Problem(item.file, item.start_line, ProblemKind.DUPLICATE_KEY, message))
            item.qualified_name += f"@{node.start_point.column}"
        keys.add((item.qualified_name, item.start_line))
        tree.objects.append(item)
        parsed.objects.append(item)
        open_objects.append((node.end_byte, item))


def _first_error(node: Node) -> Node:
    """What could not be parsed or is missing; of the few errors without a node of their own, what is around them."""
    while not node.is_error and not node.is_missing:
        inside = next((child for child in node.children if child.has_error), None)
        if inside is None:
            break
        node = inside
    return node


def _code_object(index: int, node: Node, parent: CodeObject, parsed: ParsedFile) -> CodeObject:
    data = parsed.data
    name = canonical(_text(data, node.child_by_field_name("name")))
    outer = node.parent
    decorated = outer if outer is not None and outer.type == "decorated_definition" else node
    decorators = [_text(data, child) for child in decorated.children if child.type == "decorator"]
    is_class = node.type == "class_definition"
    last = _last_statement(node, data)
    return CodeObject(
        index=index,
        kind=Kind.CLASS if is_class else _FUNCTION_KINDS.get(parent.kind, Kind.FUNCTION),
        name=name,
        qualified_name=f"{parent.qualified_name}.{name}" if parent.qualified_name else name,
        file=parsed.source.path,
        start_line=node.start_point.row + 1,
        end_line=last.end_point.row + 1,
        parent=parent.index,
        decorators=tuple(" ".join(text[1:].split()) for text in decorators),
        signature=_signature(data, node, name, is_class),
        docstring=_docstring(node.child_by_field_name("body")),
        code=data[decorated.start_byte : last.end_byte].decode("utf-8", "surrogatepass"),
        node=node,
    )


def _last_statement(node: Node, data: bytes) -> Node:
    """Where the definition really ends: a block of tree-sitter also holds the comments that follow it."""
    while data[node.start_byte : node.end_byte].rstrip().rpartition(b"\n")[2].lstrip().startswith(b"#"):
        statements = parts_of(node)
        if not statements:
            break
        node = statements[-1]
    return node


def _signature(data: bytes, node: Node, name: str, is_class: bool) -> str:
    type_parameters = _text(data, node.child_by_field_name("type_parameters"))
    if is_class:
        return _one_line(f"class {name}{type_parameters}{_text(data, node.child_by_field_name('superclasses'))}")
    head = "async def" if node.children[0].type == "async" else "def"
    parameters = _text(data, node.child_by_field_name("parameters"))
    returned = _text(data, node.child_by_field_name("return_type"))
    return _one_line(f"{head} {name}{type_parameters}{parameters}" + (f" -> {returned}" if returned else ""))


def _docstring(body: Node | None) -> str:
    """The docstring as `inspect.getdoc` would clean it; empty when there is none."""
    first = next(iter(parts_of(body)), None) if body else None
    if first is None or first.type != "expression_statement" or first.named_child_count != 1:
        return ""
    literal = first.named_children[0]
    if literal.type not in ("string", "concatenated_string") or literal.text is None:
        return ""
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            value = ast.literal_eval(literal.text.decode("utf-8", "surrogatepass"))
    except (ValueError, SyntaxError, MemoryError):
        return ""
    return inspect.cleandoc(value) if isinstance(value, str) else ""


def _text(data: bytes, node: Node | None) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass") if node else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
