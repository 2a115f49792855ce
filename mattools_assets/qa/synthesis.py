"""Asking a model to write questions, and reading what it wrote.

A model names the right option and three wrong ones; letters are dealt out afterwards, so its taste for a letter does
not matter. Structured output where the provider has it (`REPLY_SCHEMA`), JSON or tags otherwise: all are read.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from mattools_assets.qa.passages import Passage
from mattools_assets.qa.questions import QuestionKind

PROMPT_VERSION = "1"
MOST_QUESTIONS = 5
LONGEST_QUESTION = 4000
LONGEST_OPTION = 1000

_ITEM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "correct": {"type": "string"},
        "wrong": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3},
    },
    "required": ["question", "correct", "wrong"],
    "additionalProperties": False,
}
REPLY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"questions": {"type": "array", "items": _ITEM, "maxItems": MOST_QUESTIONS}},
    "required": ["questions"],
    "additionalProperties": False,
}

_RULES = """Rules
- Each question stands alone: whoever answers sees neither this {what} nor the other questions. Name the class or
  function that it is about, and never mention a text, a passage, a snippet or a document.
- It has one right option and three wrong ones that someone who does not know the library would believe. All four are
  different, of similar length and form. No "all of the above" or "none of the above".
- The right option's words do not stand in the question.
- Ask what matters to someone who uses or changes the library, not how the {what} is worded.
- Up to five questions on different points; fewer, or none, where the {what} does not hold enough.
"""
_TASKS = {
    QuestionKind.CODE: """Below is the code of `{name}` from a Python library. Write multiple-choice questions that test
knowledge of this code. In most of them quote a few lines of it as a Markdown code block in which one name, argument or
value is replaced by ____, and ask what belongs there.
""",
    QuestionKind.DOC: """Below is the documentation of `{name}` from a Python library. Write multiple-choice questions
that test whether someone knows what it does, its parameters, results, units, defaults and limits.
""",
}
_JSON_FORM = """Reply with JSON only:
{"questions": [{"question": "...", "correct": "...", "wrong": ["...", "...", "..."]}]}"""
_TAG_FORM = """Reply with each question in this form and nothing else:
<item>
<question>...</question>
<correct>...</correct>
<wrong>...</wrong>
<wrong>...</wrong>
<wrong>...</wrong>
</item>"""


def synthesis_prompt(passage: Passage, tags: bool = False) -> str:
    """The user message that asks for questions about a passage, answered as JSON or in tags."""
    what = "code" if passage.kind is QuestionKind.CODE else "documentation"
    task = _TASKS[passage.kind].format(name=passage.name)
    form = _TAG_FORM if tags else _JSON_FORM
    return f"{task}\n{_RULES.format(what=what)}\n{form}\n\n<{what}>\n{passage.text}\n</{what}>"


REPEATS = "nearly the same as question "
"""Begins the reason of a question that resembles another; that one's id follows."""
NO_REPLY_YET = "no reply yet: "
"""Begins the reason of a passage that is to be asked about again; the request's outcome follows."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as the model wrote it, before the gates."""

    question: str
    correct: str
    wrong: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A question that is not kept, as far as it could be read, and why."""

    question: str
    reason: str


def reasons_dropped(rows: pa.Table) -> list[str]:
    """Of rows of QA_DROPPED the reasons why something was dropped; what is to be asked again is not."""
    return [reason for reason in rows.column("reason").to_pylist() if not reason.startswith(NO_REPLY_YET)]


def read_reply(reply: str) -> tuple[list[Draft], list[Dropped]]:
    """The questions of a reply and those that were malformed; one bad question never costs the others.

    A reply that breaks off keeps the questions before the break. A reply without any question is one `Dropped`.
    """
    drafts: list[Draft] = []
    dropped: list[Dropped] = []
    for item in _items(reply):
        read = _draft(item)
        if isinstance(read, Dropped):
            dropped.append(read)
        elif len(drafts) == MOST_QUESTIONS:
            dropped.append(Dropped(read.question, f"more than {MOST_QUESTIONS} questions in one reply"))
        else:
            drafts.append(read)
    if not drafts and not dropped and not _is_empty_list(reply):
        dropped.append(Dropped("", "no question could be read in the reply"))
    return drafts, dropped


def _items(reply: str) -> list[Any]:
    tagged = list(_between(reply, "item"))
    return [_tagged(text) for text in tagged] if tagged else list(_json_items(reply))


def _between(text: str, tag: str) -> Iterator[str]:
    """What stands in each pair of tags. A pattern would search to the end anew from each of many unclosed ones."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.find(opening)
    while start >= 0 and (end := text.find(closing, start)) >= 0:
        yield text[start + len(opening) : end]
        start = text.find(opening, end)


def _tagged(text: str) -> dict[str, Any]:
    def inside(tag: str) -> list[str]:
        return list(_between(text, tag))

    return {
        "question": "".join(inside("question")[:1]),
        "correct": "".join(inside("correct")),
        "wrong": inside("wrong"),
    }


def _json_items(reply: str) -> Iterator[Any]:
    """Every object with a question in it, also inside a list that was never closed."""
    decoder = json.JSONDecoder()
    place = reply.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(reply, place)
        except (ValueError, RecursionError):  # no JSON, a number of too many digits, too deep
            end = place + 1
        else:
            if isinstance(value.get("questions"), list):
                yield from value["questions"]
            elif "question" in value:
                yield value
        place = reply.find("{", end)


def _is_empty_list(reply: str) -> bool:
    return re.search(r'"questions"\s*:\s*\[\s*\]', reply) is not None


def _draft(item: Any) -> Draft | Dropped:
    if not isinstance(item, dict):
        return Dropped("", "the question is not an object with question, correct and wrong")
    question, correct, wrong = item.get("question"), item.get("correct"), item.get("wrong")
    if not isinstance(question, str) or not question.strip():
        return Dropped("", "the question has no text")
    shown = question.strip()[:200].encode("utf-8", "replace").decode()
    if not isinstance(correct, str) or not correct.strip():
        return Dropped(shown, "there is no right option")
    if not isinstance(wrong, list) or not all(isinstance(option, str) and option.strip() for option in wrong):
        return Dropped(shown, "the wrong options are not a list of texts")
    if len(wrong) != 3:
        return Dropped(shown, f"{len(wrong) + 1} options instead of 4")
    if len(question) > LONGEST_QUESTION or any(len(option) > LONGEST_OPTION for option in (correct, *wrong)):
        return Dropped(shown, "the question or an option is too long")
    if any(_odd_characters(text) for text in (question, correct, *wrong)):
        return Dropped(shown, "the question or an option holds control characters or halves of characters")
    first, second, third = (option.strip() for option in wrong)
    return Draft(question.strip(), correct.strip(), (first, second, third))


def _odd_characters(text: str) -> bool:
    """Whether there are characters that no file or terminal takes as they are: controls, halves of a pair."""
    return any(unicodedata.category(character) in ("Cc", "Cs") for character in text if character not in "\n\r\t")
