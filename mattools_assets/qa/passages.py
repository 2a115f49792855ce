"""What questions are made from: the code of an object (`pymatgen_code`), or its document (`pymatgen_doc`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

import pyarrow as pa

from mattools_assets.docs.graph import CodeGraph, Documented
from mattools_assets.docs.prompts import own_code
from mattools_assets.docs.writing import USABLE, Document
from mattools_assets.qa.questions import QuestionKind
from resources.lake import Column, LakeTable

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


_TEXT = pa.string()
_COLUMNS = (
    Column("source_id", _TEXT, "the object, as in code_objects"),
    Column("name", _TEXT, "qualified name: what a question calls the object"),
    Column("module", _TEXT, "part of the library: the folder of the object's file"),
    Column("object_kind", _TEXT, "class, method, function or nested_function"),
    Column("text", _TEXT, "what is asked about: the code, a long one shortened, or the document"),
)
PYMATGEN_CODE = LakeTable("pymatgen_code", "The code of every object of the tool source, one row each.", (), _COLUMNS)
PYMATGEN_DOC = LakeTable(
    "pymatgen_doc",
    "The documents of the tool source's objects by who wrote them, one row each.",
    ("doc_source",),
    (Column("doc_source", _TEXT, "name of the model that wrote it, or docstrings, or signatures"), *_COLUMNS),
)


def passages_table(passages: Iterable[Passage], doc_source: str | None = None) -> pa.Table:
    """Rows of `PYMATGEN_DOC` for documents of `doc_source`, without it of `PYMATGEN_CODE`."""
    table, own = (PYMATGEN_CODE, {}) if doc_source is None else (PYMATGEN_DOC, {"doc_source": doc_source})
    names = [column.name for column in _COLUMNS]
    return table.rows([own | {name: getattr(passage, name) for name in names} for passage in passages])


def read_passages(rows: pa.Table, kind: QuestionKind) -> list[Passage]:
    """The passages of such rows."""
    names = [column.name for column in _COLUMNS]
    return [Passage(kind, **row) for row in rows.select(names).to_pylist()]


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
