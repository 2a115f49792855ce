"""Doctests of a module, found in its docstrings without importing it and named as pytest names them."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node

from mattools_assets.triplets.suite_modules import Definition, Module, text


@dataclass(frozen=True)
class Doctest:
    """Examples of one docstring: `name` is the object's full name, `line` that of the docstring's first example."""

    name: str
    line: int
    docstring: str
    examples: tuple[str, ...]


def doctests(module: Module) -> Iterator[Doctest]:
    """The docstrings with examples of a module, its functions, classes and their members."""
    name = dotted_name(module.path)
    yield from _of(module.root, name)
    for item in module.definitions.values():
        yield from _of_definition(item, f"{name}.{item.name}")


def dotted_name(path: Path) -> str:
    """The name under which pytest imports a file: from the topmost folder that is a package."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _of_definition(item: Definition, name: str) -> Iterator[Doctest]:
    body = item.node.child_by_field_name("body")
    if body is not None:
        yield from _of(body, name)
    if item.is_class:
        members = {member.name: member for member in item.members()}
        for member in members.values():
            yield from _of_definition(member, f"{name}.{member.name}")


def _of(block: Node, name: str) -> Iterator[Doctest]:
    node = _docstring(block)
    if node is None:
        return
    try:
        value = ast.literal_eval(text(node))
        examples = doctest.DocTestParser().get_examples(value, name) if isinstance(value, str) else []
    except (ValueError, SyntaxError):
        return  # no plain text, or examples that doctest itself refuses
    if examples:
        line = node.start_point.row + 1 + examples[0].lineno
        yield Doctest(name, line, value, tuple(example.source for example in examples))


def _docstring(block: Node) -> Node | None:
    """The string that stands first in a block."""
    first = next((child for child in block.named_children if child.type != "comment"), None)
    if first is None or first.type != "expression_statement" or len(first.named_children) != 1:
        return None
    inner = first.named_children[0]
    return inner if inner.type in ("string", "concatenated_string") else None


def text_doctest(path: Path) -> Doctest | None:
    """The examples of a text file, which pytest collects under the file's own name; None without any."""
    content = path.read_text(encoding="utf-8", errors="replace")
    try:
        examples = doctest.DocTestParser().get_examples(content, path.name)
    except ValueError:
        return None
    if not examples:
        return None
    return Doctest(path.name, examples[0].lineno + 1, content, tuple(example.source for example in examples))
