"""How often the answers are right, with an interval that knows that questions about one object are alike."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from mattools_assets.qa.answering import strict_letter
from mattools_assets.qa.lenient import lenient_letter
from mattools_assets.qa.questions import Question
from resources.outcomes import Status
from resources.proportions import clustered_interval


@dataclass(frozen=True, slots=True)
class Marked:
    """One answer, marked. `strict` and `lenient` are the letters read, `status` the request's outcome."""

    question: Question
    repeat: int
    status: Status
    strict: str | None
    lenient: str | None

    @property
    def is_answered(self) -> bool:
        """True when the model had its chance, whatever it made of it."""
        return self.status.is_scored

    @property
    def is_unparseable(self) -> bool:
        """True for a reply in which no letter can be read."""
        return self.status is Status.OK and self.lenient is None


def mark(question: Question, repeat: int, status: Status, reply: str) -> Marked:
    """Reads a reply in both ways; a request that did not end well has no letter."""
    if status is not Status.OK:
        return Marked(question, repeat, status, None, None)
    return Marked(question, repeat, status, strict_letter(reply), lenient_letter(reply))


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracies are fractions of the answered questions, repeats averaged first; None when none was answered.

    The interval (95 %) is of the lenient accuracy. `unparseable` counts answers, the other counts are of questions.
    """

    n_questions: int
    n_answered: int
    unparseable: int
    strict: float | None
    lenient: float | None
    ci_low: float | None
    ci_high: float | None

    @property
    def coverage(self) -> float | None:
        """Part of the questions that were answered; None when there was no question."""
        return self.n_answered / self.n_questions if self.n_questions else None


def accuracy(answers: Iterable[Marked]) -> Accuracy:
    """The accuracy over the questions that `answers` are for."""
    by_question: defaultdict[str, list[Marked]] = defaultdict(list)
    for answer in answers:
        by_question[f"{answer.question.origin}\n{answer.question.kind}\n{answer.question.question_id}"].append(answer)
    strict: list[float] = []
    lenient: list[float] = []
    clusters: list[str] = []
    unparseable = 0
    for repeats in by_question.values():
        answered = [answer for answer in repeats if answer.is_answered]
        unparseable += sum(answer.is_unparseable for answer in answered)
        if answered:
            right = answered[0].question.answer
            strict.append(sum(answer.strict == right for answer in answered) / len(answered))
            lenient.append(sum(answer.lenient == right for answer in answered) / len(answered))
            clusters.append(answered[0].question.source_id)
    if not lenient:
        return Accuracy(len(by_question), 0, unparseable, None, None, None, None)
    low, high = clustered_interval(lenient, clusters)
    return Accuracy(
        len(by_question),
        len(lenient),
        unparseable,
        math.fsum(strict) / len(strict),
        math.fsum(lenient) / len(lenient),
        low,
        high,
    )


def accuracy_by(answers: Iterable[Marked], key: Callable[[Marked], Hashable]) -> dict[Hashable, Accuracy]:
    """The accuracy of each part of the answers, such as by kind, module, object kind or right letter."""
    parts: defaultdict[Hashable, list[Marked]] = defaultdict(list)
    for answer in answers:
        parts[key(answer)].append(answer)
    return {part: accuracy(found) for part, found in parts.items()}
