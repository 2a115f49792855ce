"""The project's own questions: one YAML file a topic in the folder `own`, a list of entries as `entries` has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from mattools_assets.questions.contract import Question, posed
from mattools_assets.questions.entries import PropertyEntry, QuestionEntry, fault, function_of, named
from mattools_assets.verification.comparison import Expectation, Mismatch, compare
from mattools_assets.verification.verdicts import Finding, PropertyVerdict, Verdict
from resources.strict_yaml import UNREADABLE, compose, mapping_of, read_text, why_unreadable

FOLDER = Path(__file__).parent / "own"


class OwnQuestionError(ValueError):
    """An entry that is not a question; one line with the file, the question, the field and the mend."""


@dataclass(frozen=True)
class Property:
    """One property: its description, what is right, how that is known, and a value that must fail."""

    name: str
    description: str
    expected: Expectation
    unit: str
    source: str
    reason: str
    mutant: Any

    @property
    def asked(self) -> str:
        """Type, unit and description, as the question says them."""
        unit = f", in {self.unit}" if self.unit else ""
        order = "" if self.expected.ordered else ", in any order"
        return f"{self.expected.type}{unit}{order}. {self.description}"


@dataclass(frozen=True)
class OwnQuestion:
    """A question of the own set with all that its verification needs. `solution` is Python source."""

    question: Question
    properties: tuple[Property, ...]
    solution: str

    @property
    def function_name(self) -> str:
        """Name of the reference function."""
        return function_of(self.question.id)


def verify(answer: Any, properties: tuple[Property, ...]) -> Verdict:
    """The verdict about what an answering function returned, decoded; None stands for a function that failed."""
    given: Mapping[Any, Any] = answer if isinstance(answer, dict) else {}
    verdicts = tuple(_verify_property(given, item) for item in properties)
    return Verdict(runnable=any(value is not None for value in given.values()), properties=verdicts)


def _verify_property(given: Mapping[Any, Any], item: Property) -> PropertyVerdict:
    if item.name not in given:
        return PropertyVerdict(item.name, Finding.MISSING, "it was not returned")
    try:
        compare(given[item.name], item.expected)
    except Mismatch as mismatch:
        return PropertyVerdict(item.name, mismatch.finding, str(mismatch))
    return PropertyVerdict(item.name, Finding.PASSED)


@cache
def own_questions() -> tuple[OwnQuestion, ...]:
    """All questions that ship with the project, by topic file and then as written there."""
    questions = tuple(question for path in sorted(FOLDER.glob("*.yaml")) for question in read_topic(path))
    ids = [question.question.id for question in questions]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise OwnQuestionError(f"*.yaml: the id {twice[0]!r} occurs twice: rename one")
    return questions


def read_topic(path: Path) -> Iterator[OwnQuestion]:
    """The questions of one topic file. Raises OwnQuestionError."""
    try:
        document = compose(read_text(path))
        if not isinstance(document, yaml.SequenceNode):
            raise OwnQuestionError(f"{path.name}: write a list of questions")
        for number, node in enumerate(document.value, 1):
            if not isinstance(node, yaml.MappingNode):
                raise OwnQuestionError(f"{path.name}, question {number}: write `id: …` and what else a question has")
            entry = mapping_of(node)
            who = entry["id"] if isinstance(entry.get("id"), str) else f"question {number}"
            yield read_entry(entry, path.stem, f"{path.name}, {named(who)}")
    except UNREADABLE as error:
        raise OwnQuestionError(why_unreadable(Path(path.name), error)) from None


def read_entry(entry: dict[str, Any], topic: str, where: str, folder: Path | None = None) -> OwnQuestion:
    """One entry, checked; `where` begins the message of OwnQuestionError.

    `files` are contents by name, or names of files below `folder`.
    """
    try:
        stated = QuestionEntry.model_validate(entry)
    except ValidationError as error:
        raise OwnQuestionError(f"{where}, {fault(error)}") from None
    properties = tuple(_property(name, item) for name, item in stated.properties.items())
    question = Question(
        id=stated.id,
        topic=topic,
        text=posed(stated.text, {item.name: item.asked for item in properties}, dict.fromkeys(stated.files, "")),
        properties=tuple(item.name for item in properties),
        files=_contents(stated.files, folder, where),
    )
    return OwnQuestion(question, properties, stated.solution)


def _contents(files: dict[str, str] | list[str], folder: Path | None, where: str) -> dict[str, bytes | Path]:
    if isinstance(files, dict):
        return {name: content.encode() for name, content in files.items()}
    missing = [name for name in files if folder is None or not (folder / name).is_file()]
    if missing:
        raise OwnQuestionError(f"{where}, files: there is no {missing[0]!r} below the test suite")
    return {name: folder / name for name in files} if folder else {}


def _property(name: str, item: PropertyEntry) -> Property:
    return Property(
        name=name,
        description=" ".join(item.description.split()),
        expected=item.expected,
        unit=item.unit or "",
        source=item.source,
        reason=item.reason or "",
        mutant=item.mutant,
    )
