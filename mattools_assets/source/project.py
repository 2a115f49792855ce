"""A source from its folder to its tables in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from mattools_assets.source.errors import SourceError
from mattools_assets.source.order import Order, callees_first
from mattools_assets.source.problems import Problem, ProblemKind
from mattools_assets.source.reading import SourceFile, read_files
from mattools_assets.source.references import Reference, find_references
from mattools_assets.source.tables import code_objects_table, problems_table, references_table
from mattools_assets.source.tree import CodeObject, build_tree


@dataclass(frozen=True, slots=True)
class Project:
    """Everything that is known about a source."""

    files: list[SourceFile]
    objects: list[CodeObject]
    references: list[Reference]
    order: Order
    problems: list[Problem]

    @property
    def lines(self) -> int:
        """Number of lines of all files together."""
        return sum(file.lines for file in self.files)

    def code_objects(self) -> pa.Table:
        """The table `code_objects`."""
        return code_objects_table(self.objects, self.references, self.order)

    def reference_table(self) -> pa.Table:
        """The table `references`."""
        return references_table(self.objects, self.references)

    def problem_table(self) -> pa.Table:
        """The table of problems."""
        return problems_table(self.problems)


def analyse(root: Path, under: str = "", links: Sequence[str] = ()) -> Project:
    """Tree, references and order of all Python files below `root / under`; module names begin at `root`.

    `links` were left out when the source was unpacked, and join the problems. Raises SourceError when there is no
    Python file.
    """
    files, problems = read_files(root, under)
    problems += [Problem(link, 0, ProblemKind.LINK, "a symbolic link, left out") for link in links]
    if not files:
        raise SourceError(f"{root / under}: no Python file (*.py) below this folder; name the folder of a package")
    tree = build_tree(files)
    references = find_references(tree)
    for item in tree.objects:
        item.node = None  # lets go of the syntax trees, which are most of the memory
    return Project(files, tree.objects, references, callees_first(tree.objects, references), problems + tree.problems)
