"""Marked answers and accuracies, from one model's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mattools_assets.qa.accuracy import Marked
from mattools_assets.qa.questions import LETTERS
from mattools_assets.qa.scores import (
    QA_ACCURACY,
    QA_ANSWERS,
    QA_SCORES,
    accuracy_rows,
    letter_confusion,
    mark_answers,
    score_rows,
)
from mattools_assets.stages.answers import all_questions
from resources.lake import Lake, LakeTable
from resources.markdown import markdown_table
from resources.stage import Made, Remarks

NO_LETTER = "none"


def make_scores(lake: Lake, model: str) -> dict[LakeTable, Made]:
    """The rows of `qa_scores` and `qa_accuracy` for the model's answers. Raises LakeError."""
    marked = mark_answers(lake.read(QA_ANSWERS, {"model": model}), all_questions(lake))
    accuracies = accuracy_rows(model, marked)
    return {
        QA_SCORES: Made(score_rows(model, marked), _confusion_remarks([answer for _, answer in marked])),
        QA_ACCURACY: Made(accuracies, _accuracy_remarks(accuracies.to_pylist())),
    }


def _confusion_remarks(marked: Sequence[Marked]) -> Remarks:
    counts = letter_confusion(marked)
    rights = Counter(answer.question.answer for answer in marked if answer.is_answered)
    rows: list[tuple[object, ...]] = [
        (f"**{right}**", *(counts.get((right, given), 0) for given in (*LETTERS, NO_LETTER)), rights[right])
        for right in LETTERS
    ]
    given = [sum(counts.get((right, letter), 0) for right in LETTERS) for letter in (*LETTERS, NO_LETTER)]
    rows.append(("all", *given, rights.total()))
    return {
        "confusion by letter": markdown_table(("right \\ answered", *LETTERS, NO_LETTER, "all"), rows),
        "unparseable": sum(answer.is_unparseable for answer in marked),
        "answered": rights.total(),
    }


def _accuracy_remarks(rows: Sequence[Mapping[str, Any]]) -> Remarks:
    shown = [
        (
            row["origin"],
            row["question_kind"],
            row["sample"],
            row["part"],
            f"{row['n_answered']:,} of {row['n_questions']:,}",
            _percent(row["accuracy_strict"]),
            _percent(row["accuracy_lenient"]),
            "" if row["ci_low"] is None else f"{_percent(row['ci_low'])} to {_percent(row['ci_high'])}",
        )
        for row in rows
        if row["dimension"] in ("all", "answer")
    ]
    head = ("questions by", "kind", "sample", "right letter", "answered", "strict", "lenient", "95 % interval")
    remarks: Remarks = {"accuracy": markdown_table(head, shown)}
    for row in rows:
        if row["dimension"] == "all" and row["accuracy_lenient"] is not None:
            remarks[f"{row['origin']} {row['question_kind']} {row['sample']}"] = float(row["accuracy_lenient"])
    return remarks


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
