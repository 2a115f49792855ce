"""What the files of tool usage were made from, and which evaluations are missing or no longer good."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mattools_assets.tool_usage import tables
from mattools_assets.tool_usage.entrants import Evaluation
from mattools_assets.tool_usage.evaluating import ANSWERS_VERSION
from mattools_assets.tool_usage.question_sets import Tasks
from mattools_assets.tool_usage.runs import packages
from mattools_assets.tool_usage.scores import SCORER
from resources.freshness import Provenance, Step, is_good
from resources.lake import Lake
from resources.outcomes import Status
from resources.stage import Made

QUESTIONS = Step(tables.TOOL_QUESTIONS, (), "1")
ANSWERS = Step(tables.TOOL_ANSWERS, (tables.TOOL_QUESTIONS,), ANSWERS_VERSION)
EXECUTIONS = Step(tables.TOOL_EXECUTIONS, (tables.TOOL_ANSWERS, tables.TOOL_QUESTIONS), "1")
SCORES = Step(tables.TOOL_SCORES, (tables.TOOL_ANSWERS, tables.TOOL_EXECUTIONS, tables.TOOL_QUESTIONS), SCORER)
EVALUATED = (ANSWERS, EXECUTIONS, SCORES)
"""The assets by evaluation, upstream first."""

Row = dict[str, Any]
Identity = Callable[[Evaluation], str]


def make_questions(tasks: Tasks) -> Made:
    """The rows of `tool_questions`."""
    rows = [
        {
            "question_set": task.question_set,
            "question_id": task.id,
            "topic": task.question.topic,
            "text": task.question.text,
            "properties": [
                dict(zip(("name", "asked", "expected"), (name, *task.expected(name)), strict=True))
                for name in task.question.properties
            ],
            "files": sorted(task.question.files),
            "data_at_hand": task.question.data_at_hand,
            "question_hash": task.question_hash,
            "verification_hash": task.verification_hash,
        }
        for task in tasks.values()
    ]
    found = Made(tables.TOOL_QUESTIONS.rows(rows))
    for name in sorted({task.question_set for task in tasks.values()}):
        own = [task.question for task in tasks.values() if task.question_set == name]
        at_hand = [question for question in own if question.data_at_hand]
        found.remarks[f"questions, {name}"] = len(own)
        found.remarks[f"properties, {name}"] = sum(len(question.properties) for question in own)
        found.remarks[f"questions with data at hand, {name}"] = len(at_hand)
        found.remarks[f"properties with data at hand, {name}"] = sum(len(question.properties) for question in at_hand)
    return found


def answers_note(identity: str, rows: Iterable[Row] = ()) -> Provenance:
    """What a file of answers notes beyond the rest; `open` counts those that are to be asked for again."""
    return {"entrant_hash": identity, "open": str(sum(not Status(row["status"]).is_scored for row in rows))}


def executions_note(rows: Iterable[Row] = ()) -> Provenance:
    """What a file of executions notes; `open` counts those in which the sandbox failed."""
    return {"packages": packages(), **scores_note(rows)}


def scores_note(rows: Iterable[Row] = ()) -> Provenance:
    """What a file of scores notes; `open` counts verdicts that are missing because the sandbox failed."""
    return {"open": str(sum(row["status"] == Status.SANDBOX_ERROR for row in rows))}


def stale_questions(lake: Lake, tasks: Tasks) -> bool:
    """Whether the questions in the lake are not those at hand."""
    stored = lake.stored(QUESTIONS.table, {})
    if not is_good(stored, QUESTIONS.provenance(lake, {})):
        return True
    return stored is None or stored.content_hash != QUESTIONS.table.content_hash(make_questions(tasks).rows)


def stale_evaluations(
    lake: Lake, evaluations: Iterable[Evaluation], identity: Identity
) -> dict[Evaluation, tuple[str, ...]]:
    """The assets of each evaluation that are to be made anew; what is downstream of a stale file is stale."""
    stale: dict[Evaluation, tuple[str, ...]] = {}
    for evaluation in evaluations:
        notes = (answers_note(identity(evaluation)), executions_note(), scores_note())
        for place, (step, note) in enumerate(zip(EVALUATED, notes, strict=True)):
            key = evaluation.key
            if not is_good(lake.stored(step.table, key), step.provenance(lake, key, **note)):
                stale[evaluation] = tuple(each.table.name for each in EVALUATED[place:])
                break
    return stale
