"""Recorded runs: functions that real models wrote elsewhere, one JSON line a question.

A line holds `question_id`, `function_name` and `function_source`, or what the published harness writes:
`question_file_path`, `function_name`, `function`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mattools_assets.questions.json_lines import read_objects


class RecordedRunError(ValueError):
    """A file that is not a recorded run; one line with the file, the line and the mend."""


@dataclass(frozen=True)
class RecordedAnswer:
    """What a model answered to one question; both texts are empty where its reply could not be parsed."""

    run: str
    question_id: str
    function_name: str
    source: str


def read_run(path: Path) -> list[RecordedAnswer]:
    """The answers of one recorded run. Raises RecordedRunError."""
    answers: dict[str, RecordedAnswer] = {}
    for where, entry in read_objects(path, RecordedRunError):
        question_id = _text(entry, where, "question_id", "question_file_path")
        if question_id in answers:
            raise RecordedRunError(f"{where}: a second answer to {question_id!r}: keep one a run")
        name, source = _text(entry, where, "function_name"), _text(entry, where, "function_source", "function")
        answers[question_id] = RecordedAnswer(run_name(path), question_id, name, source)
    if not answers:
        raise RecordedRunError(f"{path}: no answers: give a recorded run as JSON lines")
    return list(answers.values())


def run_name(path: Path) -> str:
    """The name of a run: its file's, or its folders' where every run's file is called alike, as in a checkout."""
    if path.stem != "function_generation_results":
        return path.stem
    return "__".join(path.absolute().parts[-4:-1])


def _text(entry: dict[str, Any], where: str, *fields: str) -> str:
    for field in fields:
        if field in entry:
            value = entry[field]
            if isinstance(value, str) or value is None:
                return value or ""
    raise RecordedRunError(f"{where}: {' or '.join(fields)} is missing or no text")
