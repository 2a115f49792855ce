"""The shipped questions: their answers are computed with pymatgen itself."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest

from mattools_assets.qa.gates import pass_gates, plain
from mattools_assets.qa.handwritten import handwritten_questions, verifications
from mattools_assets.qa.questions import LETTERS, Question
from mattools_assets.qa.synthesis import Draft

QUESTIONS = handwritten_questions()


def test_there_are_thirty_with_balanced_letters() -> None:
    assert len({question.question_id for question in QUESTIONS}) == 30
    letters = Counter(question.answer for question in QUESTIONS)
    assert set(letters) == set(LETTERS)
    assert max(letters.values()) - min(letters.values()) <= 1


@pytest.mark.slow
def test_pymatgen_gives_the_right_answers_and_no_other() -> None:
    pytest.importorskip("pymatgen")
    for question in QUESTIONS:
        namespace: dict[str, object] = {}
        with warnings.catch_warnings(action="ignore"):
            exec(verifications()[question.question_id], namespace)
        assert namespace["result"] == question.right, question.question_id


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.question_id)
def test_they_pass_the_gates_for_written_ones(question: Question) -> None:
    first, second, third = (option for option in question.options if option != question.right)
    assert pass_gates(Draft(question.text, question.right, (first, second, third))) is None
    assert len({plain(option) for option in question.options}) == 4
