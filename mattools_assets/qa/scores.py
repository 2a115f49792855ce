"""From a model's replies to marked answers and accuracies: the tables `qa_answers`, `qa_scores`, `qa_accuracy`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import pyarrow as pa

from mattools_assets.qa.accuracy import Accuracy, Marked, accuracy_by, mark
from mattools_assets.qa.questions import Question
from resources.lake import Column, LakeTable
from resources.outcomes import Status

_TEXT, _WHOLE, _NUMBER, _BOOL = pa.string(), pa.int64(), pa.float64(), pa.bool_()

_MODEL = Column("model", _TEXT, "name of the model that answered")
_SAMPLE = Column("sample", _TEXT, "all, or size and seed of the sample, such as n=2000,seed=0")
_ORIGIN = Column("origin", _TEXT, "who wrote the questions: a model's name, published, or handwritten")
_QUESTION_KIND = Column("question_kind", _TEXT, "code, doc or handwritten")
_QUESTION = Column("question_id", _TEXT, "the question, unique in its origin and kind")
_REPEAT = Column("repeat", _WHOLE, "which time it was asked, from 0")
_STATUS = Column("status", _TEXT, "outcome of the request")

QA_ANSWERS = LakeTable(
    "qa_answers",
    "Replies to questions: one row a question and repeat.",
    ("model",),
    (
        _MODEL,
        _ORIGIN,
        _QUESTION_KIND,
        _QUESTION,
        _SAMPLE,
        _REPEAT,
        _STATUS,
        Column("reply", _TEXT, "the reply's text; empty where there was none"),
        Column("prompt_tokens", _WHOLE, "tokens of the prompt as the provider counts", nullable=True),
        Column("completion_tokens", _WHOLE, "tokens of the reply as the provider counts", nullable=True),
        Column("cost_usd", _NUMBER, "price of the request in US dollars", nullable=True, identity=False),
        Column("latency_s", _NUMBER, "seconds from request to reply", nullable=True, identity=False),
        Column("prompt_hash", _TEXT, "identity of the prompt"),
        Column("error", _TEXT, "why there is no reply, in a line", nullable=True),
    ),
)

QA_SCORES = LakeTable(
    "qa_scores",
    "Marked replies: one row a question and repeat.",
    ("model",),
    (
        _MODEL,
        _ORIGIN,
        _QUESTION_KIND,
        _QUESTION,
        _SAMPLE,
        _REPEAT,
        _STATUS,
        Column("source_id", _TEXT, "the code object that the question is about"),
        Column("module", _TEXT, "part of the library: the folder of the object's file"),
        Column("object_kind", _TEXT, "kind of the object; empty where it is not known"),
        Column("answer", _TEXT, "letter of the right option"),
        Column("strict_letter", _TEXT, "letter by the paper's rule", nullable=True),
        Column("lenient_letter", _TEXT, "letter by the lenient rule", nullable=True),
        Column("correct_strict", _BOOL, "right by the paper's rule; null where the model had no chance", nullable=True),
        Column("correct_lenient", _BOOL, "right by the lenient rule; null likewise", nullable=True),
        Column("unparseable", _BOOL, "a whole reply in which no letter can be read"),
    ),
)

DIMENSIONS: Mapping[str, Callable[[Marked], str]] = {
    "all": lambda _marked: "all",
    "module": lambda marked: marked.question.module,
    "object_kind": lambda marked: marked.question.object_kind,
    "answer": lambda marked: marked.question.answer,
}

QA_ACCURACY = LakeTable(
    "qa_accuracy",
    "Accuracies: one row for each origin, kind of question and sample, as a whole and in parts.",
    ("model",),
    (
        _MODEL,
        _ORIGIN,
        _QUESTION_KIND,
        _SAMPLE,
        Column("dimension", _TEXT, "what the part is one of: all, module, object_kind, or answer (the right letter)"),
        Column("part", _TEXT, "the part; all for the whole"),
        Column("repeats", _WHOLE, "how often each question was asked, at most"),
        Column("n_questions", _WHOLE, "questions asked"),
        Column("n_answered", _WHOLE, "questions that the model had a chance to answer"),
        Column("coverage", _NUMBER, "answered part of the questions, 0 to 1", nullable=True),
        Column(
            "accuracy_strict", _NUMBER, "right by the paper's rule, 0 to 1; null when none was answered", nullable=True
        ),
        Column("accuracy_lenient", _NUMBER, "right by the lenient rule, 0 to 1; null likewise", nullable=True),
        Column("unparseable", _WHOLE, "whole replies in which no letter can be read"),
        Column("ci_low", _NUMBER, "lower end of the 95 % interval of accuracy_lenient", nullable=True),
        Column("ci_high", _NUMBER, "upper end of it", nullable=True),
    ),
)


def sample_name(size: int | None, seed: int) -> str:
    """How a sample is called; `size` of None means all questions."""
    return "all" if size is None else f"n={size},seed={seed}"


def mark_answers(answers: pa.Table, questions: Iterable[Question]) -> list[tuple[str, Marked]]:
    """Every reply of `QA_ANSWERS` marked, with the name of its sample.

    Replies to questions that are no longer among `questions` are left out.
    """
    known = {(question.origin, question.kind.value, question.question_id): question for question in questions}
    marked = []
    for row in answers.to_pylist():
        question = known.get((row["origin"], row["question_kind"], row["question_id"]))
        if question is not None:
            marked.append((row["sample"], mark(question, row["repeat"], Status(row["status"]), row["reply"])))
    return marked


def score_rows(model: str, marked: Iterable[tuple[str, Marked]]) -> pa.Table:
    """Rows of `QA_SCORES`."""
    return QA_SCORES.rows([_score(model, sample, answer) for sample, answer in marked])


def accuracy_rows(model: str, marked: Sequence[tuple[str, Marked]]) -> pa.Table:
    """Rows of `QA_ACCURACY`: every set of questions as a whole and by part. No row without a question."""
    sets: dict[tuple[str, str, str], list[Marked]] = {}
    for sample, answer in marked:
        sets.setdefault((answer.question.origin, answer.question.kind.value, sample), []).append(answer)
    rows = []
    for (key, answers), (dimension, part_of) in product(sorted(sets.items()), DIMENSIONS.items()):
        for part, found in sorted(accuracy_by(answers, part_of).items(), key=lambda pair: str(pair[0])):
            repeats = 1 + max(answer.repeat for answer in answers)
            rows.append(_accuracy(model, key, dimension, str(part), repeats, found))
    return QA_ACCURACY.rows(rows)


def _score(model: str, sample: str, answer: Marked) -> dict[str, Any]:
    question = answer.question
    return {
        "model": model,
        "origin": question.origin,
        "question_kind": question.kind.value,
        "question_id": question.question_id,
        "sample": sample,
        "repeat": answer.repeat,
        "status": (Status.UNPARSEABLE if answer.is_unparseable else answer.status).value,
        "source_id": question.source_id,
        "module": question.module,
        "object_kind": question.object_kind,
        "answer": question.answer,
        "strict_letter": answer.strict,
        "lenient_letter": answer.lenient,
        "correct_strict": answer.strict == question.answer if answer.is_answered else None,
        "correct_lenient": answer.lenient == question.answer if answer.is_answered else None,
        "unparseable": answer.is_unparseable,
    }


def _accuracy(
    model: str, key: tuple[str, str, str], dimension: str, part: str, repeats: int, found: Accuracy
) -> dict[str, Any]:
    origin, kind, sample = key
    return {
        "model": model,
        "origin": origin,
        "question_kind": kind,
        "sample": sample,
        "dimension": dimension,
        "part": part,
        "repeats": repeats,
        "n_questions": found.n_questions,
        "n_answered": found.n_answered,
        "coverage": found.coverage,
        "accuracy_strict": found.strict,
        "accuracy_lenient": found.lenient,
        "unparseable": found.unparseable,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
    }


def letter_confusion(marked: Iterable[Marked]) -> dict[tuple[str, str], int]:
    """How often each right letter was answered with each letter; `none` where none could be read."""
    counts: dict[tuple[str, str], int] = {}
    for answer in marked:
        if answer.is_answered:
            pair = (answer.question.answer, answer.lenient or "none")
            counts[pair] = counts.get(pair, 0) + 1
    return dict(sorted(counts.items()))
