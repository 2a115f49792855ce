"""One file of a test suite, split by tree-sitter into its top-level statements. Nothing is imported or executed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import tree_sitter_python
from tree_sitter import Language, Node, Parser

PYTHON = Language(tree_sitter_python.language())
_BLOCKS = {
    "if_statement",
    "elif_clause",
    "else_clause",
    "try_statement",
    "except_clause",
    "finally_clause",
    "with_statement",
    "block",
}


@dataclass(frozen=True)
class Definition:
    """A function or class with its decorators. `node` is its definition, `outer` includes the decorators."""

    name: str
    node: Node
    outer: Node

    @property
    def is_class(self) -> bool:
        """True for a class."""
        return self.node.type == "class_definition"

    @property
    def is_async(self) -> bool:
        """True for `async def`."""
        return self.node.children[0].type == "async"

    @property
    def source(self) -> str:
        """Its text with decorators, indented as at the top level."""
        lines = text(self.outer).splitlines()
        column = self.outer.start_point.column
        return "\n".join([lines[0], *(line[column:] if line[:column].isspace() else line for line in lines[1:])])

    @property
    def line(self) -> int:
        """Line of `def` or `class`, from 1."""
        return self.node.start_point.row + 1

    @property
    def decorators(self) -> tuple[str, ...]:
        """The decorators' expressions."""
        return tuple(text(child)[1:].strip() for child in self.outer.children if child.type == "decorator")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters without a default, which pytest fills with fixtures or parametrisation."""
        node = self.node.child_by_field_name("parameters")
        plain = {"identifier": lambda child: child, "typed_parameter": lambda child: child.children[0]}
        found = [plain[child.type](child) for child in (node.named_children if node else ()) if child.type in plain]
        return tuple(text(child) for child in found if child.type == "identifier")

    @property
    def bases(self) -> tuple[str, ...]:
        """Expressions of a class's bases, keywords left out."""
        node = self.node.child_by_field_name("superclasses")
        return tuple(text(child) for child in (node.named_children if node else ()) if child.type != "keyword_argument")

    def members(self) -> list[Definition]:
        """The methods and classes in a class's body."""
        body = self.node.child_by_field_name("body")
        return list(definitions(body)) if body else []

    def assigns(self, name: str) -> str | None:
        """The text of what a class's body assigns to `name`."""
        body = self.node.child_by_field_name("body")
        for node in statements(body) if body else ():
            inner = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if inner.type == "assignment" and left is not None and right is not None and text(left) == name:
                return text(right)
        return None


@dataclass
class Module:
    """A parsed file: what each top-level name is bound by."""

    path: Path
    root: Node = field(repr=False)

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """Functions and classes by name; a later one replaces an earlier one, as in Python."""
        return {item.name: item for item in definitions(self.root)}

    @cached_property
    def bindings(self) -> dict[str, Node]:
        """The import or assignment that binds each other top-level name."""
        return {name: node for node in statements(self.root) for name in bound_names(node)}

    @cached_property
    def imported(self) -> dict[str, tuple[str, str]]:
        """Local name to (module as written, name there) of each `from … import …`."""
        found = {}
        for node in statements(self.root):
            if node.type != "import_from_statement":
                continue
            module = text(node.child_by_field_name("module_name"))
            for child in node.children_by_field_name("name"):
                name, alias = child.child_by_field_name("name") or child, child.child_by_field_name("alias")
                found[text(alias or name)] = (module, text(name))
        return found

    @cached_property
    def starred(self) -> tuple[str, ...]:
        """The modules, as written, all of whose names are imported."""
        imports = [node for node in statements(self.root) if node.type == "import_from_statement"]
        stars = [node for node in imports if any(child.type == "wildcard_import" for child in node.children)]
        return tuple(text(node.child_by_field_name("module_name")) for node in stars)

    @cached_property
    def plugins(self) -> tuple[str, ...]:
        """The modules that `pytest_plugins` names."""
        node = self.bindings.get("pytest_plugins")
        return tuple(strings(node)) if node is not None else ()


def parse(path: Path) -> Module:
    """The file `path`; what is no Python is skipped over, as tree-sitter does."""
    return Module(path, Parser(PYTHON).parse(path.read_bytes()).root_node)


def parse_text(source: str) -> Node:
    """The syntax tree of a piece of Python."""
    return Parser(PYTHON).parse(source.encode()).root_node


def text(node: Node | None) -> str:
    """The source text of a node."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def statements(block: Node) -> Iterator[Node]:
    """All statements of a block, also inside `if`, `try` and `with`."""
    for node in block.named_children:
        if node.type in _BLOCKS:
            yield from statements(node)
        else:
            yield node


def definitions(block: Node) -> Iterator[Definition]:
    """The functions and classes that a block defines."""
    for outer in statements(block):
        node = outer.child_by_field_name("definition") if outer.type == "decorated_definition" else outer
        if node is not None and node.type in ("function_definition", "class_definition"):
            yield Definition(text(node.child_by_field_name("name")), node, outer)


def bound_names(node: Node) -> list[str]:
    """The names that an import or assignment statement binds."""
    if node.type in ("import_statement", "import_from_statement"):
        names = []
        for child in node.children_by_field_name("name"):
            alias = child.child_by_field_name("alias")
            names.append(text(alias) if alias else text(child).split(".")[0])
        return names
    inner = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
    if inner.type not in ("assignment", "augmented_assignment"):
        return []
    left = inner.child_by_field_name("left")
    return [text(child) for child in identifiers(left)] if left is not None else []


def identifiers(node: Node) -> Iterator[Node]:
    """All identifiers below a node."""
    if node.type == "identifier":
        yield node
    for child in node.children:
        yield from identifiers(child)


def strings(node: Node) -> Iterator[str]:
    """The contents of all plain string literals below a node."""
    if node.type == "string":
        parts = [child for child in node.named_children if child.type not in ("string_start", "string_end")]
        if all(part.type == "string_content" for part in parts):
            yield "".join(text(part) for part in parts)
        return
    for child in node.children:
        yield from strings(child)
