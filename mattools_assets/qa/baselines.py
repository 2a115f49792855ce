"""Baselines: entrants that know nothing, by which the guessing level and give-aways of a question set show."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from mattools_assets.qa.questions import LETTERS, Question
from resources.lake import combined_hash


def guess(question: Question, repeat: int) -> str:
    """A letter drawn from the question's identity and the repeat, the same for everyone."""
    draw = random.Random(combined_hash("guess", question.origin, question.kind, question.question_id, str(repeat)))
    return draw.choice(LETTERS)


def always_a(_question: Question, _repeat: int) -> str:
    """A, whatever is asked: what it scores is the share of questions whose right letter is A."""
    return "A"


def longest(question: Question, _repeat: int) -> str:
    """The option with the most characters, the first of several: what can be had from the options' form."""
    lengths = [len(option) for option in question.options]
    return LETTERS[lengths.index(max(lengths))]


BASELINES: Mapping[str, Callable[[Question, int], str]] = {
    "baseline-guess": guess,
    "baseline-always-a": always_a,
    "baseline-longest": longest,
}
"""By name in models.yaml."""
