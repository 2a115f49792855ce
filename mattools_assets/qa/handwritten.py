"""Thirty questions on the general use of pymatgen, written for this project, with code that shows each answer."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from mattools_assets.qa.questions import LETTERS, Question, QuestionKind

ORIGIN = "handwritten"


def handwritten_questions() -> list[Question]:
    """The thirty questions."""
    return [_question(entry) for entry in _entries()]


def verifications() -> dict[str, str]:
    """By question, Python code that computes with pymatgen the text of the right option as `result`."""
    return {entry["question_id"]: "\n".join(entry["verification"]) for entry in _entries()}


@cache
def _entries() -> list[dict[str, Any]]:
    return json.loads(files(__package__).joinpath("handwritten.json").read_text(encoding="utf-8"))


def _question(entry: dict[str, Any]) -> Question:
    a, b, c, d = (entry["choices"][letter] for letter in LETTERS)
    return Question(
        entry["question_id"],
        ORIGIN,
        QuestionKind.HANDWRITTEN,
        entry["question_id"],
        entry["module"],
        "",
        entry["question"],
        (a, b, c, d),
        entry["correct_answer"],
    )
