"""The published tool-usage questions, from files that the user has: JSON lines, or a checkout of MatTools.

A line holds `question_id`, `question`, `properties` (name to description, format and value), `verification_source` and
`data_files_here`. A checkout has a folder a question in `src/question_segments/pymatgen_analysis_defects`. Their text
and code are data here and are never part of the project; the code runs in the sandbox alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mattools_assets.questions.contract import Question
from mattools_assets.questions.inputs import InputFiles
from mattools_assets.questions.json_lines import read_objects
from resources.strict_json import JsonError, is_whole, parse

TOPIC = "defects (published)"
SEGMENTS = Path("src/question_segments/pymatgen_analysis_defects")
_COMPARISON = "    errors = []\n"
_REFERENCE = """\
    def number(text):
        return 1.0 if text.endswith("> 0") else float(text)

    return {{
        name: number(item["value"]) if item["format"] != "str" and isinstance(item["value"], str) else item["value"]
        for name, item in expected_properties.items()
    }}


def reference_answer():
    return {name}({{}})
"""
_ASKED = re.compile(r"^\s*- `(\w+)`\s*:", re.MULTILINE)


class PublishedQuestionError(ValueError):
    """A file that does not hold published questions; one line with the file, the place and the mend."""


@dataclass(frozen=True)
class PublishedQuestion:
    """One published question. `verification` is Python source that defines a function named as the question."""

    question: Question
    verification: str

    @property
    def reference_source(self) -> str:
        """A function that returns the values that the verification compares with.

        It is the beginning of the verification function, other people's code and for the sandbox alone. The published
        values beside the questions are no substitute: three are no valid expressions or of the wrong type. The two
        bounds, both `> 0`, become 1.0, and a number that is written as text becomes one.
        """
        beginning, found, _ = self.verification.partition(_COMPARISON)
        if not found:
            raise PublishedQuestionError(f"{self.question.id}: its verification does not begin with expected values")
        return beginning + _REFERENCE.format(name=self.question.id)


def read_published(path: Path, files: InputFiles) -> list[PublishedQuestion]:
    """All questions of a JSONL file or of a checkout's folder. Raises PublishedQuestionError."""
    entries = _from_checkout(path) if path.is_dir() else read_objects(path, PublishedQuestionError)
    questions = [_question(entry, where, files) for where, entry in entries]
    ids = [item.question.id for item in questions]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise PublishedQuestionError(f"{path}: the question {twice[0]!r} occurs twice: remove one")
    if not questions:
        raise PublishedQuestionError(f"{path}: no questions: give questions.jsonl or a checkout of MatTools")
    return questions


def _from_checkout(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for question in sorted((folder / SEGMENTS).glob("*/question.txt")):
        entry: dict[str, Any] = {
            "question_id": question.parent.name,
            "question": _read(question),
            "verification_source": _read(question.parent / "new_unit_test.py"),
        }
        described = question.parent / "properties.json"
        if described.exists():
            entry["properties"] = _properties(described)
        yield str(question.parent), entry


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _fault(path, f"cannot be read ({error})") from None


def _properties(path: Path) -> Any:
    text = _read(path)
    try:
        described = parse(text)
    except JsonError as error:
        raise _fault(path, str(error)) from None
    if not isinstance(described, dict):
        raise _fault(path, "must be a JSON object")
    return described.get("properties")


def _fault(where: Path | str, what: str) -> PublishedQuestionError:
    return PublishedQuestionError(f"{where}: {what}: take the published file as it is")


def _question(entry: dict[str, Any], where: str, files: InputFiles) -> PublishedQuestion:
    for field in ("question_id", "question", "verification_source"):
        if not isinstance(entry.get(field), str) or not entry[field].strip():
            raise _fault(where, f"{field} is missing or empty")
        if not is_whole(entry[field]):
            raise _fault(where, f"{field} holds half a character")
    if not entry["question_id"].isidentifier():
        raise _fault(where, "question_id is no name of a function")
    properties = entry.get("properties")
    if properties is None:
        properties = {name: {} for name in _ASKED.findall(entry["question"])}
    if not isinstance(properties, dict) or not properties:
        raise _fault(where, "properties is missing or empty")
    for name in properties:
        if not name.strip() or not is_whole(name):
            raise _fault(where, f"{name!a} is no name of a property")
    if not isinstance(entry.get("data_files_here", True), bool):
        raise _fault(where, "data_files_here must be true or false")
    if f"def {entry['question_id']}(" not in entry["verification_source"]:
        raise PublishedQuestionError(f"{where}: verification_source does not define {entry['question_id']}()")
    question = Question(
        id=entry["question_id"],
        topic=TOPIC,
        text=entry["question"],
        properties=tuple(properties),
        files=files.named_in(entry["question"]),
        data_at_hand=entry.get("data_files_here", True),
    )
    return PublishedQuestion(question, entry["verification_source"])
