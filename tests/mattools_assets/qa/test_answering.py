"""The prompt of a question, and the paper's rule for its answer."""

from __future__ import annotations

import pytest

from mattools_assets.qa.answering import answer_prompt, strict_letter
from mattools_assets.qa.questions import Question, QuestionKind

QUESTION = Question("q", "o", QuestionKind.DOC, "s", "g", "", "Which?", ("one", "two", "three", "four"), "C")


def test_the_prompt_shows_all_and_not_the_answer() -> None:
    prompt = answer_prompt(QUESTION)
    assert "Which?\n\nA. one\nB. two\nC. three\nD. four" in prompt
    assert prompt == answer_prompt(Question(*[*[getattr(QUESTION, n) for n in QUESTION.__slots__][:-1], "A"]))


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("<answer>B</answer>", "B"),
        (" <answer> B </answer>\n", "B"),
        ("B", "B"),
        ("<answer>b</answer>", None),
        ("<answer>B.</answer>", None),
        ("The answer is <answer>B</answer>", None),
        ("<answer>AB</answer>", None),
        ("<answer>E</answer>", None),
        ("<answer></answer>", None),
        ("", None),
    ],
)
def test_the_papers_rule(reply: str, letter: str | None) -> None:
    assert strict_letter(reply) == letter
