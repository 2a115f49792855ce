"""An independent look at a package: the standard library's own parser."""

from __future__ import annotations

import ast
from pathlib import Path

from mattools_assets.source.project import Project, analyse
from mattools_assets.source.tree import CodeObject


def check_against_standard_library(folder: Path) -> Project:
    """Asserts that objects, line spans, docstrings and decorators of a package are those that `ast` gives."""
    project = analyse(folder.parent, folder.name)
    by_file: dict[str, dict[tuple[str, int], CodeObject]] = {file.path: {} for file in project.files}
    for item in project.objects:
        if item.kind.is_documented:
            by_file[item.file][item.qualified_name, item.start_line] = item
    assert len(by_file) == len([path for path in folder.rglob("*.py") if "__pycache__" not in path.parts])
    for path, ours in by_file.items():
        theirs = definitions(folder.parent / path)
        assert ours.keys() == theirs.keys(), path
        for key, node in theirs.items():
            item = ours[key]
            assert item.end_line == node.end_lineno, (path, key)
            assert item.docstring == (ast.get_docstring(node) or ""), (path, key)
            assert len(item.decorators) == len(node.decorator_list), (path, key)
    assert project.references
    assert project.code_objects().num_rows == len(project.objects)
    return project


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definitions(path: Path) -> dict[tuple[str, int], Definition]:
    """Classes and functions of a file by qualified name and line."""
    found: dict[tuple[str, int], Definition] = {}

    def walk(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, Definition):
                name = f"{above}.{child.name}" if above else child.name
                found[name, child.lineno] = child
            walk(child, name)

    walk(ast.parse(path.read_bytes()), "")
    return found
