"""A few answers as Markdown for Dagster's UI: question, code with its result marked, expected against got.

Code, results and messages are hostile text. They stand in fences and code spans that they cannot close, so that
nothing of them is read as Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mattools_assets.tool_usage.question_sets import Task, Tasks
from mattools_assets.verification.comparison import shown
from resources.sandbox.decoding import decode

SHOWN = 6
MAX_QUESTION, MAX_CODE, MAX_CELL = 1_500, 4_000, 240
MARK = "  # <- result"
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

Case = tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]
"""Rows of one answer: what was answered, its execution, its score."""


def shown_answers(cases: Sequence[Case], tasks: Tasks) -> str:
    """The answers that failed most instructively first: part right before none right before all right."""
    ranked = sorted(cases, key=lambda case: _rank(case[2]))
    return "\n\n---\n\n".join(_case(case, tasks) for case in ranked[:SHOWN])


def fenced(text: str, language: str = "") -> str:
    """`text` as a block of code that nothing in it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{_INVISIBLE.sub('�', text)}\n{fence}"


def span(text: str) -> str:
    """`text` in one table cell as code; no backtick, bar or line break is left in it."""
    plain = _INVISIBLE.sub("�", text.replace("`", "'").replace("|", "¦").replace("\n", " "))
    plain = plain if len(plain) <= MAX_CELL else f"{plain[: MAX_CELL - 1]}…"
    return f"`{plain}`" if plain.strip() else ""


def marked(source: str, properties: Sequence[str]) -> str:
    """`source` with a mark behind each line that names a property in quotes, which is where its result is made."""
    quoted = [f"{quote}{name}{quote}" for name in properties for quote in "'\""]
    lines = source[:MAX_CODE].splitlines()
    return "\n".join(f"{line}{MARK}" if any(name in line for name in quoted) else line for line in lines)


def _rank(score: Mapping[str, Any]) -> tuple[int, str, str]:
    if score["n_passed"] is None:
        kind = 3
    elif score["n_passed"] == score["n_properties"]:
        kind = 2
    else:
        kind = 0 if score["n_passed"] else 1
    return kind, score["question_set"], score["question_id"]


def _table(findings: Sequence[Mapping[str, Any]], returned: Mapping[Any, Any], task: Task) -> str:
    lines = ["| property | expected | got | finding | |", "|---|---|---|---|---|"]
    for item in findings:
        name = item["property"]
        got = shown(returned[name]) if name in returned else ""
        cells = (span(task.expected(name)[1]), span(got), item["finding"], span(item["detail"]))
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _returned(execution: Mapping[str, Any]) -> Mapping[Any, Any]:
    """The dictionary that a function returned, decoded; empty where it was none."""
    encoded = (execution["result"] or "null").encode()
    result = decode(encoded, len(encoded))
    return result if isinstance(result, dict) else {}


def _case(case: Case, tasks: Tasks) -> str:
    answer, execution, score = case
    task = tasks[answer["question_set"], answer["question_id"]]
    about = (
        f"**{task.id}** ({task.question_set}), {answer['answered_as']}, repeat {answer['repeat']}: {score['status']}"
    )
    passed = "no verdict" if score["n_passed"] is None else f"{score['n_passed']} of {score['n_properties']} right"
    parts = [f"{about}, {passed}", fenced(task.question.text[:MAX_QUESTION], "text")]
    if answer["source"]:
        parts.append(fenced(marked(answer["source"], task.question.properties), "python"))
    if score["findings"]:
        parts.append(_table(score["findings"], _returned(execution), task))
    if execution["stderr"].strip():
        parts.append(fenced(execution["stderr"].strip()[-600:], "text"))
    return "\n\n".join(parts)
