"""Questions with four options, and the table that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from resources.lake import Column, LakeTable, combined_hash

LETTERS = "ABCD"


class QuestionKind(StrEnum):
    """What a question was made from."""

    CODE = "code"
    DOC = "doc"
    HANDWRITTEN = "handwritten"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with options in the order A to D, one of them right.

    `source_id` is the code object (or the published set's name of it), `module` the part of the library that it belongs
    to, `object_kind` the kind of that object, empty where it is not known. `origin` says where the question is from.
    `is_suspect` marks one that its writer answers wrongly, the same way each time, when it does not see the source.
    """

    question_id: str
    origin: str
    kind: QuestionKind
    source_id: str
    module: str
    object_kind: str
    text: str
    options: tuple[str, str, str, str]
    answer: str
    is_suspect: bool = False

    @property
    def right(self) -> str:
        """The right option's text."""
        return self.options[LETTERS.index(self.answer)]


def question_hash(kind: str, source_id: str, text: str, options: Iterable[str]) -> str:
    """A name for a question made from its contents; the order of its options does not count."""
    return combined_hash(kind, source_id, text, *sorted(options))[:16]


_TEXT = pa.string()
_COLUMNS = (
    Column("question_id", _TEXT, "name of the question, unique in its origin and kind"),
    Column("origin", _TEXT, "who wrote it: a model's name, published, or handwritten"),
    Column("kind", _TEXT, "code, doc or handwritten"),
    Column("source_id", _TEXT, "the code object that it is about, as in code_objects where that is known"),
    Column("module", _TEXT, "part of the library: the folder of the object's file"),
    Column("object_kind", _TEXT, "class, method, function or nested_function; empty where it is not known"),
    Column("text", _TEXT, "the question"),
    Column("options", pa.list_(_TEXT), "the four options, A to D"),
    Column("answer", _TEXT, "letter of the right option"),
    Column("is_suspect", pa.bool_(), "its writer, asked without the source, gives one and the same wrong answer"),
)
QA_CODE = LakeTable("qa_code", "Questions made from code by models, one row a question.", ("origin",), _COLUMNS)
QA_DOC = LakeTable("qa_doc", "Questions made from documents by models, one row a question.", ("origin",), _COLUMNS)
QA_PUBLISHED = LakeTable("qa_published", "The published questions, from files that the user has.", (), _COLUMNS)
QA_HANDWRITTEN = LakeTable("qa_handwritten", "Thirty questions written for this project.", (), _COLUMNS)
QA_DROPPED = LakeTable(
    "qa_dropped",
    "Questions that were written and not kept, and passages without a reply yet: one row each, with the reason.",
    ("origin", "kind"),
    (
        Column("origin", _TEXT, "name of the model that wrote it"),
        Column("kind", _TEXT, "code or doc"),
        Column("source_id", _TEXT, "the code object that it is about"),
        Column("text", _TEXT, "the question as far as it could be read"),
        Column("reason", _TEXT, "why it was dropped"),
    ),
)


def questions_table(table: LakeTable, questions: Iterable[Question]) -> pa.Table:
    """Rows of one of the tables of questions."""
    names = [column.name for column in _COLUMNS]
    rows = [{name: getattr(question, name) for name in names} for question in questions]
    return table.rows([row | {"kind": row["kind"].value, "options": list(row["options"])} for row in rows])


def read_questions(rows: pa.Table) -> list[Question]:
    """The questions of such rows."""
    return [
        Question(**{**row, "kind": QuestionKind(row["kind"]), "options": tuple(row["options"])})
        for row in rows.to_pylist()
    ]
