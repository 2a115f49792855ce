"""Samples and accuracies: proportions, intervals against scipy and simulation, and nothing out of nothing."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mattools_assets.qa.accuracy import accuracy, accuracy_by, mark
from mattools_assets.qa.card import dataset_card
from mattools_assets.qa.questions import Question, QuestionKind
from mattools_assets.qa.sampling import stratified_sample
from mattools_assets.qa.scores import (
    QA_ACCURACY,
    QA_ANSWERS,
    QA_SCORES,
    accuracy_rows,
    letter_confusion,
    mark_answers,
    sample_name,
    score_rows,
)
from mattools_assets.qa.synthesis import Dropped
from resources.outcomes import Status
from resources.proportions import wilson_interval


def question(n: int, module: str = "g", kind: QuestionKind = QuestionKind.CODE, source: str | None = None) -> Question:
    return Question(
        f"q{n}", "o", kind, source or f"s{n}", module, "", f"Which {n}?", ("a", "b", "c", "d"), "ABCD"[n % 4]
    )


QUESTIONS = [question(n, "big" if n % 10 else "small") for n in range(1000)]


@settings(deadline=None)
@given(st.integers(0, 1100), st.integers(0, 5))
def test_a_sample_has_its_size_and_its_proportions(size: int, seed: int) -> None:
    sample = stratified_sample(QUESTIONS, size, seed)
    assert len(sample) == min(size, 1000)
    assert len(set(sample)) == len(sample)
    counts = Counter(item.module for item in sample)
    assert abs(counts["small"] - len(sample) / 10) < 1
    chosen = set(sample)
    assert sample == [item for item in QUESTIONS if item in chosen]


def test_a_sample_is_the_same_for_everyone_and_grows() -> None:
    small, large = stratified_sample(QUESTIONS, 100, 7), stratified_sample(QUESTIONS, 500, 7)
    assert small == stratified_sample(list(QUESTIONS), 100, 7)
    assert set(small) <= set(large)
    assert small != stratified_sample(QUESTIONS, 100, 8)


def test_accuracy_counts_everything_once() -> None:
    answers = [
        mark(question(0), 0, Status.OK, "<answer>A</answer>"),  # right in both readings
        mark(question(1), 0, Status.OK, "The answer is B."),  # right only leniently
        mark(question(2), 0, Status.OK, "<answer>D</answer>"),  # wrong
        mark(question(3), 0, Status.OK, "Hm."),  # unparseable, wrong
        mark(question(4), 0, Status.REFUSED, ""),  # the model's own failure, wrong
        mark(question(5), 0, Status.PROVIDER_ERROR, ""),  # not asked in effect
    ]
    found = accuracy(answers)
    assert (found.n_questions, found.n_answered, found.unparseable) == (6, 5, 1)
    assert (found.strict, found.lenient) == pytest.approx((1 / 5, 2 / 5))
    assert found.coverage == pytest.approx(5 / 6)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < 2 / 5 < found.ci_high


def test_repeats_are_averaged_first() -> None:
    answers = [mark(question(0), repeat, Status.OK, "A") for repeat in range(9)]
    answers.append(mark(question(1), 0, Status.OK, "A"))
    found = accuracy(answers)
    assert (found.n_questions, found.lenient) == (2, 0.5)


def test_nothing_answered_has_no_accuracy() -> None:
    empty = accuracy([])
    assert (empty.n_questions, empty.lenient, empty.ci_low, empty.coverage) == (0, None, None, None)
    failed = accuracy([mark(question(0), 0, Status.BUDGET_STOPPED, "")])
    assert (failed.n_questions, failed.n_answered, failed.lenient, failed.coverage) == (1, 0, None, 0.0)


def test_position_bias_shows_by_letter() -> None:
    answers = [mark(question(n), 0, Status.OK, "A") for n in range(40)]
    by_letter = accuracy_by(answers, lambda answer: answer.question.answer)
    assert {letter: part.lenient for letter, part in by_letter.items()} == {"A": 1.0, "B": 0.0, "C": 0.0, "D": 0.0}


def answered(questions: list[Question], replies: list[str], sample: str = "all") -> pa.Table:
    return QA_ANSWERS.rows(
        [
            {
                "model": "m",
                "origin": item.origin,
                "question_kind": item.kind.value,
                "question_id": item.question_id,
                "sample": sample,
                "repeat": 0,
                "status": "ok",
                "reply": text,
                "prompt_tokens": 1,
                "completion_tokens": 1,
                "cost_usd": None,
                "latency_s": 0.1,
                "prompt_hash": "h",
                "error": None,
            }
            for item, text in zip(questions, replies, strict=True)
        ]
    )


def test_tables_from_replies_to_accuracies() -> None:
    questions = [question(n, "x" if n < 2 else "y") for n in range(4)]
    marked = mark_answers(answered([*questions, question(99)], ["A", "(B)", "A", "?", "A"]), questions)
    scores = score_rows("m", marked)
    assert QA_SCORES.fault(scores) is None
    assert scores.column("status").to_pylist() == ["ok", "ok", "ok", "unparseable"]
    assert scores.column("correct_strict").to_pylist() == [True, False, False, False]
    assert scores.column("correct_lenient").to_pylist() == [True, True, False, False]
    table = accuracy_rows("m", marked)
    assert QA_ACCURACY.fault(table) is None
    found = {(row["dimension"], row["part"]): row for row in table.to_pylist()}
    assert found["all", "all"]["accuracy_strict"] == 0.25
    assert found["all", "all"]["accuracy_lenient"] == 0.5
    assert found["all", "all"]["unparseable"] == 1
    assert found["module", "x"]["accuracy_lenient"] == 1.0
    assert found["module", "y"]["n_questions"] == 2
    assert {part for dimension, part in found if dimension == "answer"} == set("ABCD")


def test_no_replies_make_no_row() -> None:
    assert accuracy_rows("m", mark_answers(answered([], []), [])).num_rows == 0


def test_samples_are_kept_apart_and_named() -> None:
    one = answered([question(0)], ["A"], sample_name(None, 0))
    two = answered([question(0), question(1)], ["A", "A"], sample_name(2, 5))
    table = accuracy_rows("m", mark_answers(pa.concat_tables([one, two]), [question(0), question(1)]))
    whole = [row for row in table.to_pylist() if row["dimension"] == "all"]
    assert [(row["sample"], row["n_questions"], row["accuracy_lenient"]) for row in whole] == [
        ("all", 1, 1.0),
        ("n=2,seed=5", 2, 0.5),
    ]


def test_confusion_by_letter() -> None:
    marked = [mark(question(n), 0, Status.OK, reply) for n, reply in enumerate(["A", "A", "?", "D"])]
    marked.append(mark(question(0), 0, Status.PROVIDER_ERROR, ""))
    assert letter_confusion(marked) == {("A", "A"): 1, ("B", "A"): 1, ("C", "none"): 1, ("D", "D"): 1}


def test_a_card_counts_what_there_is() -> None:
    card = dataset_card("Code", [question(n) for n in range(8)], [Dropped("x", "nearly the same as question ab12")] * 3)
    assert "8 questions on 8 objects." in card
    assert "| A | 2 |" in card
    assert "| nearly the same as question before | 3 |" in card
    assert "0 questions on 0 objects." in dataset_card("None", [], [])


@given(st.integers(1, 70_000), st.data())
def test_an_interval_holds_its_fraction(count: int, data: st.DataObject) -> None:
    right = data.draw(st.sampled_from([0, count]) | st.integers(0, count))
    low, high = wilson_interval(right / count, count)
    assert 0 <= low <= right / count <= high <= 1
