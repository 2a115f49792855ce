"""Which of the library's classes, methods and functions our own questions need: those that their solutions refer to.

The reference solutions are read beside the library's source, as files of one tree, so that names are resolved by the
same scopes, imports, inheritance and types as the call graph's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mattools_assets.questions.own import OwnQuestion
from mattools_assets.source.reading import SourceFile
from mattools_assets.source.references import Certainty, find_references
from mattools_assets.source.tables import object_id
from mattools_assets.source.tree import build_tree

FOLDER = "_questions"
"""Of the solutions in the tree; no module of a library is called so."""


def needed_objects(library: Mapping[str, str], questions: Iterable[OwnQuestion]) -> dict[str, tuple[str, ...]]:
    """Ids of the objects that each question's solution refers to, by question; `library` is file to source text.

    Only what is surely meant counts: a name that could stand for several definitions is left out.
    """
    solutions = {f"{FOLDER}/{own.function_name}.py": own for own in questions}
    files = [*library.items(), *((path, own.solution) for path, own in solutions.items())]
    tree = build_tree([SourceFile(path, text, text.count("\n"), "") for path, text in files])
    needed: dict[str, list[str]] = {own.question.id: [] for own in solutions.values()}
    for reference in find_references(tree):
        own, target = solutions.get(tree.objects[reference.source].file), tree.objects[reference.target]
        is_sure = reference.certainty in (Certainty.EXACT, Certainty.TYPED)
        if own is not None and is_sure and target.file not in solutions and target.kind.is_documented:
            needed[own.question.id].append(object_id(target))
    return {name: tuple(dict.fromkeys(found)) for name, found in needed.items()}
