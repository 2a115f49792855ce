"""Verdicts on one evaluation's executions: rows of `tool_scores`, one an answer and mode."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mattools_assets.questions.own import OwnQuestion
from mattools_assets.questions.own import verify as verify_own
from mattools_assets.tool_usage.entrants import REFERENCE, Evaluation
from mattools_assets.tool_usage.executions import IDENTITY, UNVERIFIED, Counted, Row, execution_of, in_threads, task_of
from mattools_assets.tool_usage.question_sets import Task, Tasks
from mattools_assets.tool_usage.shown import shown_answers
from mattools_assets.tool_usage.tables import TOOL_SCORES
from mattools_assets.verification.published import Mode, SandboxFailed
from mattools_assets.verification.published import verify as verify_published
from mattools_assets.verification.verdicts import Finding, PropertyVerdict, Verdict
from resources.lake import Lake
from resources.outcomes import Status
from resources.sandbox.execution import RunsScripts
from resources.stage import Made, Remarks

SCORER = "2"
_SPENT = ("requests", "prompt_tokens", "completion_tokens", "cost_usd", "latency_s")
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)")
MAX_DETAIL = 1_000


def make_scores(
    sandbox: RunsScripts, answers: Sequence[Row], executions: Sequence[Row], tasks: Tasks, workers: int, told: Counted
) -> Made:
    """The rows for all executions, in their order; `answers` are the same in the same order.

    Published questions are verified in the sandbox, our own here. Raises SandboxUnavailable.
    """
    pairs = [
        (answer, row, mode)
        for answer, row in zip(answers, executions, strict=True)
        for mode in modes_of(task_of(row, tasks))
    ]

    def score(pair: tuple[Row, Row, Mode]) -> Row:
        answer, execution, mode = pair
        task = task_of(execution, tasks)
        status, verdict = _judge(sandbox, task, answer, execution, mode)
        return _row(answer, execution, task, mode, status, verdict)

    rows = in_threads(score, pairs, lambda pair: pair[1]["question_id"], workers, told, _in_words)
    return Made(TOOL_SCORES.rows(rows), _remarks(rows, answers, executions, tasks))


def _in_words(row: Row) -> str:
    """A verdict, such as `irreducible-mesh: 3 of 4 properties`."""
    passed, asked_for = row["n_passed"], row["n_properties"]
    return f"{row['question_id']}: {'no verdict' if passed is None else f'{passed} of {asked_for} properties'}"


def modes_of(task: Task) -> tuple[Mode, ...]:
    """The modes in which a question can be verified."""
    return (Mode.CORRECTED,) if isinstance(task.verified, OwnQuestion) else tuple(Mode)


def _judge(sandbox: RunsScripts, task: Task, answer: Row, row: Row, mode: Mode) -> tuple[Status | str, Verdict | None]:
    """How it ended, and the verdict; none where the answer cannot be verified or something of ours failed."""
    if row["status"] == UNVERIFIED:
        return UNVERIFIED, None
    execution = execution_of(row)
    if not execution.status.is_scored:
        return execution.status, None
    if isinstance(task.verified, OwnQuestion):
        returned = execution.result if execution.submitted and execution.status is Status.OK else None
        return execution.status, verify_own(returned, task.verified.properties)
    if mode is Mode.PAPER and execution.status is Status.OK and not answer["as_published"]:
        return execution.status, _unread(task)
    try:
        return execution.status, verify_published(sandbox, task.verified, execution, mode)
    except SandboxFailed:
        return Status.SANDBOX_ERROR, None


def _unread(task: Task) -> Verdict:
    detail = "the published harness finds no function in the reply"
    return Verdict(False, tuple(PropertyVerdict(name, Finding.MISSING, detail) for name in task.question.properties))


def _row(answer: Row, execution: Row, task: Task, mode: Mode, status: Status | str, verdict: Verdict | None) -> Row:
    findings = [
        {"property": item.name, "finding": str(item.finding), "detail": item.detail[:MAX_DETAIL]}
        for item in (verdict.properties if verdict else ())
    ]
    return {
        **{name: execution[name] for name in IDENTITY},
        "mode": str(mode),
        "topic": task.question.topic,
        "status": str(status),
        "runnable": verdict.runnable if verdict else None,
        "n_passed": verdict.n_passed if verdict else None,
        "n_properties": len(task.question.properties),
        "findings": findings,
        "exception": exception_of(execution) if verdict else None,
        **{name: answer[name] for name in _SPENT},
        "question_hash": task.question_hash,
        "verification_hash": task.verification_hash,
        "scorer_version": SCORER,
        "documents": answer["documents"],
        "embedder": answer["embedder"],
    }


def broken_references(lake: Lake) -> list[str]:
    """What of the reference answers does not pass in corrected mode, a line each; unverified ones are left out."""
    key = Evaluation(REFERENCE, REFERENCE).key
    if lake.stored(TOOL_SCORES, key) is None:
        return []
    rows = lake.read(TOOL_SCORES, key).to_pylist()
    return [
        f"{row['question_set']} {row['question_id']}, {item['property']}: {item['finding']}, {item['detail']}"
        for row in rows
        if row["mode"] == Mode.CORRECTED
        for item in row["findings"]
        if item["finding"] != Finding.PASSED
    ]


def exception_of(execution: Mapping[str, Any]) -> str | None:
    """The class of the exception that ended a script, from the last line of its stderr; None where none did."""
    if execution["status"] != Status.CODE_ERROR:
        return None
    lines = execution["stderr"].strip().splitlines()
    found = _EXCEPTION.match(lines[-1].strip()) if lines else None
    return found.group(1).rsplit(".", 1)[-1][:100] if found else None


def _remarks(rows: Sequence[Row], answers: Sequence[Row], executions: Sequence[Row], tasks: Tasks) -> Remarks:
    judged = [row for row in rows if row["n_passed"] is not None]
    remarks: Remarks = {"coverage": len(judged) / max(len(rows), 1), "points": _points(rows)}
    corrected = [row for row in judged if row["mode"] == Mode.CORRECTED]
    if corrected:
        properties = sum(row["n_properties"] for row in corrected)
        remarks["runnable rate, corrected"] = sum(row["runnable"] for row in corrected) / len(corrected)
        remarks["task success rate, corrected"] = sum(row["n_passed"] for row in corrected) / properties
    by_answer = {tuple(row[name] for name in IDENTITY): row for row in rows if row["mode"] == Mode.CORRECTED}
    cases = [
        (answer, execution, by_answer[tuple(answer[name] for name in IDENTITY)])
        for answer, execution in zip(answers, executions, strict=True)
    ]
    return remarks | {"failures": _failures(judged), "answers": shown_answers(cases, tasks)}


def _points(rows: Sequence[Row]) -> str:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = tuple(str(row[name]) for name in ("origin", "answered_as", "question_set", "mode", "repeat"))
        groups.setdefault(key, []).append(row)
    lines = [
        "| origin | system | questions | mode | repeat | verified | runnable | properties | fully right |",
        "|" + "---|" * 9,
    ]
    for key, members in groups.items():
        judged = [row for row in members if row["n_passed"] is not None]
        cells = [
            f"{len(judged)} of {len(members)}",
            str(sum(row["runnable"] for row in judged)),
            f"{sum(row['n_passed'] for row in judged)} of {sum(row['n_properties'] for row in judged)}",
            str(sum(row["n_passed"] == row["n_properties"] for row in judged)),
        ]
        lines.append("| " + " | ".join((*key, *cells)) + " |")
    return "\n".join(lines)


def _failures(judged: Sequence[Row]) -> str:
    counts: dict[tuple[str, str], int] = {}
    for row in judged:
        kinds = [("status", row["status"])] if row["status"] != Status.OK else []
        kinds += [("exception", row["exception"])] if row["exception"] else []
        kinds += [("property", item["finding"]) for item in row["findings"] if item["finding"] != Finding.PASSED]
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
    lines = [f"| {kind} | {name} | {count} |" for (kind, name), count in sorted(counts.items(), key=lambda i: -i[1])]
    return "\n".join(["| kind | what | count |", "|---|---|---|", *lines[:30]])
