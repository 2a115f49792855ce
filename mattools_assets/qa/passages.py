"""What questions are made from: the code of an object (`pymatgen_code`), or its document (`pymatgen_doc`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from mattools_assets.docs.graph import CodeGraph, Documented
from mattools_assets.docs.prompts import own_code
from mattools_assets.docs.writing import USABLE, Document
from mattools_assets.qa.questions import QuestionKind

DEFAULT_TOKENS = 4000


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to ask about. `name` is what a question calls its object; `module` the part of the library it is in."""

    kind: QuestionKind
    source_id: str
    name: str
    module: str
    object_kind: str
    text: str


def code_passages(graph: CodeGraph, tokens: int = DEFAULT_TOKENS) -> list[Passage]:
    """The code of every object, long ones shortened to `tokens`."""
    return [_passage(QuestionKind.CODE, item, own_code(item, graph, tokens)) for item in graph.objects.values()]


def document_passages(graph: CodeGraph, documents: Iterable[Document]) -> list[Passage]:
    """Every object's document, where there is a usable one."""
    return [
        _passage(QuestionKind.DOC, graph.objects[document.object_id], document.text)
        for document in documents
        if document.state in USABLE and document.object_id in graph.objects
    ]


def _passage(kind: QuestionKind, item: Documented, text: str) -> Passage:
    folder = PurePosixPath(item.file).parent.as_posix()
    return Passage(kind, item.object_id, item.qualified_name, folder, item.kind.value, text)
