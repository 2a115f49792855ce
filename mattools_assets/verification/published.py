"""Verification of the published questions: their own functions, executed in the sandbox on data alone.

Mode `paper` keeps what the published harness says: two functions reject the right type, a message too many counts as
one more wrong property, a dictionary of only None counts as runnable, and a function does not that prints anything
(the harness reads the dictionary from what was printed) or on whose answer the verification function fails.
`corrected` mends these, and asks of what passed that it has the size of the expected value, is finite where that is
and no bool for a number. Neither looks for "ok" in the log, where an answer could print it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from mattools_assets.questions.published import PublishedQuestion
from mattools_assets.verification import inside
from mattools_assets.verification.transport import answer_bytes
from mattools_assets.verification.verdicts import Finding, PropertyVerdict, Verdict
from resources.outcomes import Status
from resources.sandbox import decoding
from resources.sandbox.execution import Execution, RunsScripts
from resources.sandbox.limits import Limits

LIMITS = Limits(wall_s=180.0, cpu_s=30.0)
# Both reject a value that *is* of the wanted type.
INVERTED = ("test_defect_band_raises", "test_topography_analyzer")
_INVERTED_CHECK = re.compile(r"if\s+isinstance\(actual_value, eval\(expected_format\)\):")
_CHECK = "if not isinstance(actual_value, eval(expected_format)):"


class Mode(StrEnum):
    """Whose rules hold."""

    PAPER = "paper"
    CORRECTED = "corrected"


class SandboxFailed(RuntimeError):
    """The sandbox, not the answer, failed: there is no verdict, and the verification may be tried again."""


def verify(sandbox: RunsScripts, question: PublishedQuestion, execution: Execution, mode: Mode) -> Verdict:
    """The verdict about an answer's `execution`. Raises SandboxFailed."""
    if not execution.status.is_scored:
        raise SandboxFailed(execution.detail)
    names = question.question.properties
    answer = execution.result if execution.submitted and execution.status is Status.OK else None
    if not isinstance(answer, dict) or not answer:
        return _all(names, Finding.MISSING, execution.detail or "no dictionary was returned", runnable=False)
    if mode is Mode.PAPER and execution.stdout.strip():
        return _all(names, Finding.MISSING, "it printed text beside its dictionary", runnable=False)
    if mode is Mode.CORRECTED and all(value is None for value in answer.values()):
        return _all(names, Finding.NONE, "every property is None", runnable=False)
    said = _ask(sandbox, question, answer, mode)
    if "crash" in said:
        return _all(names, Finding.WRONG_TYPE, f"verification failed: {said['crash']}", mode is Mode.CORRECTED)
    if said["ok"]:
        return Verdict(True, tuple(PropertyVerdict(name, Finding.PASSED) for name in names))
    return Verdict(True, _by_property(names, answer, said, mode))


def source(question: PublishedQuestion, mode: Mode) -> str:
    """The verification function's source in a mode."""
    if mode is Mode.PAPER or question.question.id not in INVERTED:
        return question.verification
    mended, count = _INVERTED_CHECK.subn(_CHECK, question.verification)
    if count != 1:
        raise ValueError(
            f"{question.question.id}: expected one inverted type check, found {count}; is it corrected already?"
        )
    return mended


def _ask(sandbox: RunsScripts, question: PublishedQuestion, answer: dict[Any, Any], mode: Mode) -> Mapping[str, Any]:
    try:
        content = answer_bytes(answer)
    except ValueError as error:
        return {"crash": str(error)}
    files: dict[str, bytes | Path] = {
        "answer.json": content,
        "verification.py": source(question, mode).encode(),
        "typed_values.py": Path(decoding.__file__),
    }
    strict = mode is Mode.CORRECTED
    if strict:
        files["reference.py"] = question.reference_source.encode()
    call = f"submit(verdict({question.question.id!r}, strict={strict}))"
    code = f"{Path(inside.__file__).read_text(encoding='utf-8')}\n\n{call}\n"
    execution = sandbox.run(code, files, LIMITS)
    if not execution.submitted or execution.status is not Status.OK:
        if not execution.status.is_scored:
            raise SandboxFailed(execution.detail)
        return {"crash": f"{execution.status}: {execution.detail} {execution.stderr[-300:]}"}
    said: Mapping[str, Any] = execution.result
    return said


def _all(names: tuple[str, ...], finding: Finding, detail: str, runnable: bool) -> Verdict:
    return Verdict(runnable, tuple(PropertyVerdict(name, finding, detail) for name in names))


def _by_property(
    names: tuple[str, ...], answer: dict[Any, Any], said: Mapping[str, Any], mode: Mode
) -> tuple[PropertyVerdict, ...]:
    """A verdict a property, from the messages; each begins with a property's name."""
    complaints = {name: message for message in reversed(said["messages"]) if (name := _subject(message, names))}
    verdicts = [
        PropertyVerdict(name, _finding(name, answer, complaints[name]), complaints[name])
        if name in complaints
        else PropertyVerdict(name, Finding.PASSED)
        for name in names
    ]
    if mode is Mode.PAPER:
        surplus = said["wrong"] - len(complaints)
        for index, verdict in enumerate(verdicts):
            if surplus > 0 and verdict.passed:
                verdicts[index] = PropertyVerdict(
                    verdict.name, Finding.WRONG_VALUE, "another property was counted twice"
                )
                surplus -= 1
    return tuple(verdicts)


def _subject(message: str, names: tuple[str, ...]) -> str | None:
    """The longest property name with which a message begins."""
    fitting = [name for name in names if message.startswith(name) and not message[len(name) :][:1].isidentifier()]
    return max(fitting, key=len, default=None)


def _finding(name: str, answer: dict[Any, Any], message: str) -> Finding:
    if name not in answer:
        return Finding.MISSING
    if answer[name] is None:
        return Finding.NONE
    return Finding.WRONG_TYPE if "not of type" in message or "type" in message.split(":")[0] else Finding.WRONG_VALUE
