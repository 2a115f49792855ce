"""Reports on questions from a small lake whose numbers are worked out by hand here."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import duckdb
import pytest

from dbt_reports.build import build_reports
from dbt_reports.project import PROJECT
from mattools_assets.qa.accuracy import Marked, mark
from mattools_assets.qa.questions import Question, QuestionKind
from mattools_assets.qa.scores import QA_ACCURACY, QA_SCORES, accuracy_rows, score_rows
from resources.lake import Lake
from resources.outcomes import Status
from resources.settings import read_settings

CONTRACT = [
    "model",
    "question_kind",
    "sample",
    "repeats",
    "n_questions",
    "n_answered",
    "coverage",
    "accuracy_strict",
    "accuracy_lenient",
    "unparseable",
    "ci_low",
    "ci_high",
    "origin",
]
MODEL = "gemini-2.0-flash"


def question(number: int, kind: QuestionKind, origin: str) -> Question:
    letter = "ABCD"[number % 4]
    options = (f"{number} a", f"{number} b", f"{number} c", f"{number} d")
    return Question(f"q{number}", origin, kind, f"object {number}", "part", "method", "What?", options, letter)


def answered(number: int, reply: str, status: Status = Status.OK, origin: str = "published") -> Marked:
    return mark(question(number, QuestionKind.CODE, origin), 0, status, reply)


MARKED = [
    *(answered(n, f"<answer>{'ABCD'[n % 4]}</answer>") for n in range(5)),  # right by both rules
    answered(5, "The answer is B."),  # right, but only leniently
    answered(6, "<answer>A</answer>"),  # wrong: C is right
    answered(7, "no idea"),  # unparseable
    answered(8, "", Status.REFUSED),  # the model's own failure: wrong
    answered(9, "", Status.PROVIDER_ERROR),  # nobody's answer
]
NOTHING = [answered(1, "", Status.PROVIDER_ERROR, "handwritten")]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path_factory.mktemp("data"))})
    lake, marked = Lake(settings.lake), [("all", each) for each in (*MARKED, *NOTHING)]
    lake.write(QA_SCORES, {"model": MODEL}, score_rows(MODEL, marked), {})
    lake.write(QA_ACCURACY, {"model": MODEL}, accuracy_rows(MODEL, marked), {})
    with duckdb.connect(build_reports(settings).database, read_only=True) as connection:
        yield connection


def test_the_contract(reports: duckdb.DuckDBPyConnection) -> None:
    assert reports.table("mattools_qa_accuracy").columns == CONTRACT


def test_accuracies(reports: duckdb.DuckDBPyConnection) -> None:
    found = reports.sql("from mattools_qa_accuracy").fetchall()
    rows = {row[-1]: dict(zip(CONTRACT, row, strict=True)) for row in found}
    own = rows["published"]
    assert (own["model"], own["question_kind"], own["sample"], own["repeats"]) == (MODEL, "code", "all", 1)
    assert (own["n_questions"], own["n_answered"], own["coverage"], own["unparseable"]) == (10, 9, 0.9, 1)
    assert own["accuracy_strict"] == pytest.approx(5 / 9)
    assert own["accuracy_lenient"] == pytest.approx(6 / 9)
    assert own["ci_low"] < own["accuracy_lenient"] < own["ci_high"]
    none = rows["handwritten"]
    assert (none["n_questions"], none["n_answered"], none["coverage"]) == (1, 0, 0)
    assert [none[name] for name in ("accuracy_strict", "accuracy_lenient", "ci_low", "ci_high")] == [None] * 4


def test_parts_add_up(reports: duckdb.DuckDBPyConnection) -> None:
    counts = reports.sql(
        "select dimension, sum(n_questions), sum(n_answered) from mattools_qa_by_part where origin = 'published'"
        " group by all order by all"
    ).fetchall()
    assert counts == [("answer", 10, 9), ("module", 10, 9), ("object_kind", 10, 9)]


def test_confusion_by_letter(reports: duckdb.DuckDBPyConnection) -> None:
    # Right letters by number: A 0 4 8, B 1 5 (9 unanswered), C 2 6, D 3 7.
    rows = reports.sql("select answer, answered, n_answers, share from mattools_qa_letters order by all").fetchall()
    assert rows == [
        ("A", "A", 2, pytest.approx(2 / 3)),
        ("A", "none", 1, pytest.approx(1 / 3)),
        ("B", "B", 2, 1.0),
        ("C", "A", 1, 0.5),
        ("C", "C", 1, 0.5),
        ("D", "D", 1, 0.5),
        ("D", "none", 1, 0.5),
    ]


def test_beside_table_1(reports: duckdb.DuckDBPyConnection) -> None:
    with (PROJECT / "seeds" / "published_qa_accuracy.csv").open(newline="") as opened:
        published = {(r["published_model"], r["question_kind"]): float(r["accuracy"]) for r in csv.DictReader(opened)}
    assert len(published) == 24
    rows = reports.sql(
        "select published_model, question_kind, published_accuracy, model, accuracy_strict, difference"
        " from mattools_qa_vs_published"
    ).fetchall()
    assert {row[:2]: row[2] for row in rows} == published
    beside = [row for row in rows if row[3] is not None]
    # As published: 25,568 of 34,621, and table 1 says 73.85 %.
    ((name, kind, theirs, model, ours, difference),) = beside
    assert (name, kind, model) == (MODEL, "code", MODEL)
    assert round(100 * theirs, 2) == 73.85
    assert ours == pytest.approx(5 / 9)
    assert difference == pytest.approx(5 / 9 - theirs)
