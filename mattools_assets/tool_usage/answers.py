"""Answers of one evaluation to all questions: rows of `tool_answers`, whoever gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mattools_assets.systems.base import ToolAnswer
from mattools_assets.systems.opening import DocumentsUsed
from mattools_assets.systems.replies import Function
from mattools_assets.tool_usage.entrants import (
    IMPORTED,
    LIVE,
    RECORDED,
    REFERENCE,
    Evaluation,
    RecordedRun,
    recorded_hash,
    recorded_runs,
    reference_hash,
)
from mattools_assets.tool_usage.question_sets import PUBLISHED, Task, Tasks, ToolUsageError
from mattools_assets.tool_usage.tables import TOOL_ANSWERS
from resources.outcomes import Status, endings
from resources.settings import Settings
from resources.stage import Made, Remarks

Row = dict[str, Any]


def keyless_answers(evaluation: Evaluation, tasks: Tasks, settings: Settings) -> Made:
    """The answers of the reference, or of the runs recorded of a model. Raises ToolUsageError."""
    if evaluation.system == REFERENCE:
        identity = reference_hash(tasks)
        rows = [_row(evaluation, LIVE, REFERENCE, task, 0, identity, task.reference) for task in tasks.values()]
    else:
        runs = [run for run in recorded_runs(settings) if run.model == evaluation.model]
        rows = [row for run in runs for row in _recorded(evaluation, run, tasks, recorded_hash(runs))]
    return made(rows, asked=0)


def keyless_identity(evaluation: Evaluation, tasks: Tasks, settings: Settings) -> str:
    """The `entrant_hash` of those answers."""
    if evaluation.system == REFERENCE:
        return reference_hash(tasks)
    return recorded_hash(run for run in recorded_runs(settings) if run.model == evaluation.model)


def is_keyless(evaluation: Evaluation) -> bool:
    """Whether nobody is asked."""
    return evaluation.system in (REFERENCE, RECORDED)


def made(rows: Sequence[Row], asked: int) -> Made:
    """The table with remarks on it; `asked` counts the answers that were not there before."""
    return Made(TOOL_ANSWERS.rows(list(rows)), _remarks(rows, asked))


def live_row(
    evaluation: Evaluation,
    task: Task,
    repeat: int,
    identity: str,
    answer: ToolAnswer,
    found: DocumentsUsed | None = None,
) -> Row:
    """The row of what a system answered; `found` is what it retrieved from."""
    row = _row(evaluation, LIVE, evaluation.system, task, repeat, identity, answer.function)
    tokens = [(each.prompt_tokens, each.completion_tokens, each.latency_s) for each in answer.asked]
    sent, received, seconds = zip(*tokens, strict=True) if tokens else ((), (), ())
    return {
        **row,
        "status": str(answer.status),
        "error": storable(answer.error) or None,
        "requests": len(answer.asked),
        "prompt_tokens": _sum(sent),
        "completion_tokens": _sum(received),
        "cost_usd": answer.cost_usd,
        "documents": found.writer if found else None,
        "embedder": found.embedder if found else None,
        "latency_s": _sum(seconds),
        "asked": [
            {name: getattr(each, name) for name in ("step", "round", "request_hash", "cost_usd")}
            | {"status": str(each.status)}
            for each in answer.asked
        ],
        "retrieved": [
            {name: _plain(getattr(each, name)) for name in each.__dataclass_fields__} for each in answer.retrieved
        ],
        "rounds": [
            {
                "number": each.number,
                "source": storable(each.function.source) if each.function else None,
                "status": str(each.trial.status) if each.trial else None,
                "error": storable(each.trial.error) if each.trial else None,
                "feedback": storable(each.feedback),
            }
            for each in answer.rounds
        ],
    }


def storable(text: str) -> str:
    """`text` without the halves of surrogate pairs that no UTF-8 has."""
    return text.encode("utf-8", "replace").decode()


def _recorded(evaluation: Evaluation, run: RecordedRun, tasks: Tasks, identity: str) -> list[Row]:
    rows = []
    for answer in run.answers:
        task = tasks.get((PUBLISHED, answer.question_id))
        if task is None:
            raise ToolUsageError(
                f"{answer.run}: there is no question {answer.question_id!r}; take runs and questions of one release"
            )
        function = Function(answer.source, answer.function_name) if answer.source.strip() else None
        row = _row(evaluation, IMPORTED, run.system, task, run.repeat, identity, function)
        spent = dict.fromkeys(("prompt_tokens", "completion_tokens", "cost_usd", "latency_s"))
        rows.append({**row, **spent})  # what it cost is not recorded
    return rows


def _row(
    evaluation: Evaluation,
    origin: str,
    answered_as: str,
    task: Task,
    repeat: int,
    identity: str,
    function: Function | None,
) -> Row:
    return {
        "model": evaluation.model,
        "system": evaluation.system,
        "origin": origin,
        "answered_as": answered_as,
        "question_set": task.question_set,
        "question_id": task.id,
        "repeat": repeat,
        "status": str(Status.OK if function else Status.NO_CODE),
        "function_name": storable(function.name) if function else "",
        "source": storable(function.source) if function else "",
        "as_published": function is not None and function.as_published,
        "error": None if function else "the reply holds no function",
        "requests": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cost_usd": 0.0,
        "latency_s": 0.0,
        "asked": [],
        "retrieved": [],
        "rounds": [],
        "question_hash": task.question_hash,
        "entrant_hash": identity,
        "documents": None,
        "embedder": None,
    }


def _plain(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _sum(values: Iterable[float | None]) -> Any:
    """The sum, unknown as soon as one part is."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def _remarks(rows: Sequence[Mapping[str, Any]], asked: int) -> Remarks:
    costs = [row["cost_usd"] for row in rows]
    remarks: Remarks = {
        "asked": asked,
        "answers": len(rows),
        "unanswered": sum(not Status(row["status"]).is_scored for row in rows),
        "requests": sum(row["requests"] for row in rows),
        "chunks retrieved": sum(len(row["retrieved"]) for row in rows),
        "endings": endings(row["status"] for row in rows),
    }
    return remarks | ({"cost (USD)": sum(costs)} if None not in costs else {})
