"""A draft of a triplet from a unit test, by three requests: typed properties, question, and the test as a solution."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from mattools_assets.questions.entries import named
from mattools_assets.questions.own import OwnQuestionError, read_entry
from mattools_assets.triplets.prompts import properties_prompt, question_prompt, solution_prompt
from mattools_assets.triplets.unit_tests import UnitTest
from resources.llm.answer import Answer
from resources.llm.bodies import parse
from resources.outcomes import Status
from resources.strict_yaml import TOO_DEEP, YamlError, load_mapping

TOPIC = "unit tests"
_FENCE = re.compile(r"\s*+```[\w+-]*+\n")

Ask = Callable[[str, str], Awaitable[Answer]]
"""The reply to a prompt; the second text names the step."""


@dataclass
class Draft:
    """What became of a unit test: `entry` is a question as our own question files hold them, or None with the reason.

    The files of an entry are names below the test suite.
    """

    test: UnitTest
    status: Status = Status.OK
    error: str = ""
    entry: dict[str, Any] | None = None
    answers: list[Answer] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The triplet's id, from file and name of the test."""
        return triplet_id(self.test)


class _NoDraft(Exception):
    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def triplet_id(test: UnitTest) -> str:
    """File and name of a test as one word of small letters, digits and hyphens, such as `test-core-test-vacancy`."""
    words = re.findall(r"[a-z0-9]+", f"{test.file.removesuffix('.py')} {test.name}".lower())
    return "-".join(words)


def function_name(test: UnitTest) -> str:
    """The name that the solution has to have."""
    return triplet_id(test).replace("-", "_")


async def draft(test: UnitTest, ask: Ask) -> Draft:
    """The draft; never raises for what a model or a provider did. Raises LedgerError."""
    made = Draft(test)

    async def reply(prompt: str, step: str) -> str:
        answer = await ask(prompt, step)
        made.answers.append(answer)
        if answer.status is not Status.OK:
            raise _NoDraft(answer.status, f"{step}: {answer.error or answer.status}")
        return _tagged(answer.text, step)

    try:
        properties = _object(await reply(properties_prompt(test), "properties"))
        question = await reply(question_prompt(test, properties), "question")
        name = function_name(test)
        solution = await reply(solution_prompt(test, properties, question, name), "code")
        files = list(test.data_files)
        entry = {"id": triplet_id(test), "text": question, "properties": properties, "solution": f"{solution}\n"}
        made.entry = _storable(entry | ({"files": files} if files else {}))
    except _NoDraft as failure:
        made.status, made.error = failure.status, str(failure)
    return made


def check_form(entry: dict[str, Any], folder: Any) -> str | None:
    """What is wrong with an entry's form in one line, or None."""
    try:
        read_entry(entry, TOPIC, named(entry.get("id", "?")), folder)
    except OwnQuestionError as error:
        return str(error)
    return None


def _tagged(text: str, tag: str) -> str:
    """What stands between the first tags of that name, without a fence around it."""
    _, begun, rest = text.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    if not (begun and closed and inside.strip()):
        raise _NoDraft(Status.UNPARSEABLE, f"{tag}: the reply holds nothing between <{tag}> and </{tag}>")
    opened, whole = _FENCE.match(inside), inside.rstrip()
    fenced = opened is not None and whole.endswith("```") and len(whole) >= opened.end() + len("```")
    return (whole[opened.end() : -len("```")].rstrip() if opened and fenced else inside).strip("\n")


def _storable(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry, when the file in which a person reviews it can be read again."""
    try:
        load_mapping(yaml.safe_dump(entry, allow_unicode=True))
    except (YamlError, RecursionError) as error:
        problem = error.problem if isinstance(error, YamlError) else TOO_DEEP
        raise _NoDraft(Status.UNPARSEABLE, f"properties: the draft {problem.removeprefix('it ')}") from None
    return entry


def _object(text: str) -> dict[str, Any]:
    try:
        found = parse(text.encode("utf-8", "replace"))
    except ValueError as error:
        raise _NoDraft(Status.UNPARSEABLE, f"properties: not JSON: {str(error)[:200]}") from None
    if not isinstance(found, dict) or not found or not all(isinstance(item, dict) for item in found.values()):
        raise _NoDraft(Status.UNPARSEABLE, "properties: not an object of properties")
    return found
