"""The project's own questions: one YAML file a topic in the folder `own`, read and checked.

Each entry has `id`, `text`, optional `files`, `properties`, and `solution`, the reference function. A property has
`type`, `description`, `value` (what is right), `source` (how that is known), `mutant` (a near miss that must fail) and,
where floats are compared, `tolerance`, `unit` and `reason`; `ordered: false` marks lists in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from mattools_assets.questions.contract import Question, posed
from mattools_assets.verification.comparison import Expectation, Mismatch, compare, known_type
from mattools_assets.verification.verdicts import Finding, PropertyVerdict, Verdict

FOLDER = Path(__file__).parent / "own"
_QUESTION_FIELDS = {"id", "text", "files", "properties", "solution"}
_PROPERTY_FIELDS = {"type", "description", "value", "source", "mutant", "tolerance", "unit", "reason", "ordered"}
_NEEDED = {"type", "description", "value", "source", "mutant"}


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
        return self.question.id.replace("-", "_")


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
        raise OwnQuestionError(f"{FOLDER}: the id {twice[0]!r} occurs twice: rename one")
    return questions


def read_topic(path: Path) -> Iterator[OwnQuestion]:
    """The questions of one topic file. Raises OwnQuestionError."""
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise OwnQuestionError(f"{path.name}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(entries, list):
        raise OwnQuestionError(f"{path.name}: write a list of questions")
    for number, entry in enumerate(entries, 1):
        where = f"{path.name}, question {number}"
        if not isinstance(entry, dict) or not {"id", "text", "properties", "solution"} <= entry.keys():
            raise OwnQuestionError(f"{where}: it needs id, text, properties and solution")
        yield read_entry(entry, path.stem, f"{path.name}, {entry['id']}")


def read_entry(entry: dict[str, Any], topic: str, where: str, folder: Path | None = None) -> OwnQuestion:
    """One entry, checked; `where` begins the message of OwnQuestionError.

    `files` are contents by name, or names of files below `folder`.
    """
    _no_others(entry, _QUESTION_FIELDS, where)
    for field in ("text", "solution", "properties"):
        if not isinstance(entry.get(field), dict if field == "properties" else str) or not entry[field]:
            raise OwnQuestionError(f"{where}: {field} is missing or empty")
    properties = tuple(_property(name, item, f"{where}, {name}") for name, item in entry["properties"].items())
    files = entry.get("files") or {}
    text = posed(entry["text"], {item.name: item.asked for item in properties}, dict.fromkeys(files, ""))
    question = Question(
        id=entry["id"],
        topic=topic,
        text=text,
        properties=tuple(item.name for item in properties),
        files=_contents(files, folder, where),
    )
    own = OwnQuestion(question, properties, entry["solution"])
    if f"def {own.function_name}():" not in own.solution:
        raise OwnQuestionError(f"{where}, solution: define `{own.function_name}()`")
    return own


def _contents(files: Any, folder: Path | None, where: str) -> dict[str, bytes | Path]:
    if isinstance(files, dict):
        return {name: content.encode() for name, content in files.items()}
    missing = [name for name in files if folder is None or not (folder / name).is_file()]
    if missing:
        raise OwnQuestionError(f"{where}, files: there is no {missing[0]!r} below the test suite")
    return {name: folder / name for name in files} if folder else {}


def _property(name: str, item: dict[str, Any], where: str) -> Property:
    _no_others(item, _PROPERTY_FIELDS, where)
    missing = sorted(_NEEDED - item.keys())
    if missing:
        raise OwnQuestionError(f"{where}: add {missing[0]}")
    if not known_type(item["type"]):
        raise OwnQuestionError(f"{where}, type {item['type']!r}: see Expectation for the types")
    if ("float" in item["type"] or item["type"] == "structure") and not item.get("tolerance"):
        raise OwnQuestionError(f"{where}: add a tolerance above zero and its reason")
    if item.get("tolerance") and not item.get("reason"):
        raise OwnQuestionError(f"{where}: add the reason for the tolerance")
    expected = Expectation(
        type=item["type"],
        value=item["value"],
        tolerance=float(item.get("tolerance", 0.0)),
        ordered=bool(item.get("ordered", True)),
    )
    return Property(
        name=name,
        description=" ".join(item["description"].split()),
        expected=expected,
        unit=item.get("unit", ""),
        source=item["source"],
        reason=item.get("reason", ""),
        mutant=item["mutant"],
    )


def _no_others(entry: dict[str, Any], known: set[str], where: str) -> None:
    others = sorted(entry.keys() - known)
    if others:
        raise OwnQuestionError(f"{where}: {others[0]!r} is no field; there are {', '.join(sorted(known))}")
