"""Executions of one evaluation's functions: rows of `tool_executions`; what is kept is not run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from mattools_assets.questions.answering import run_answer
from mattools_assets.tool_usage.question_sets import Task, Tasks
from mattools_assets.tool_usage.tables import TOOL_EXECUTIONS
from resources.lake import combined_hash
from resources.outcomes import Status, endings
from resources.sandbox.decoding import decode
from resources.sandbox.execution import Execution, RunsScripts, failed
from resources.sandbox.longest_first import longest_first
from resources.stage import Made, Remarks

Row = dict[str, Any]
Counted = Callable[[int, int, str], None]
"""Told how many are done, of how many, and more in words: the last one, or how they ended."""
UNVERIFIED = "unverified"
MISSING_DATA = "files that the question needs are missing here"
IDENTITY = ("model", "system", "origin", "answered_as", "question_set", "question_id", "repeat")
Item = TypeVar("Item")
Result = TypeVar("Result")


def make_executions(
    sandbox: RunsScripts, packages: str, answers: Sequence[Row], tasks: Tasks, workers: int, told: Counted
) -> Made:
    """The rows for all answers, in their order. `packages` is the environment's fingerprint.

    Raises SandboxUnavailable when a function is to be run and cannot be.
    """

    def execute(answer: Row) -> Row:
        task = tasks[answer["question_set"], answer["question_id"]]
        if not task.question.data_at_hand:
            return _row(answer, packages, failed(Status.SANDBOX_ERROR, MISSING_DATA)) | {"status": UNVERIFIED}
        status = Status(answer["status"])
        if status is not Status.OK:
            return _row(answer, packages, failed(status, answer["error"] or ""))
        return _row(
            answer, packages, run_answer(sandbox, answer["source"], answer["function_name"], task.question.files)
        )

    rows = in_threads(
        execute,
        answers,
        lambda answer: answer["question_id"],
        workers,
        told,
        lambda row: f"{row['question_id']}: {row['status']}",
    )
    return Made(TOOL_EXECUTIONS.rows(rows), _remarks(rows))


def execution_of(row: Mapping[str, Any]) -> Execution:
    """The execution that a row is about."""
    encoded = (row["result"] or "").encode()
    return Execution(
        stdout=row["stdout"],
        stderr=row["stderr"],
        result=decode(encoded, len(encoded)) if encoded else None,
        submitted=bool(encoded),
        status=Status(row["status"]),
        detail=row["detail"],
        wall_s=row["wall_s"],
        cpu_s=row["cpu_s"],
        peak_memory=row["peak_memory"],
        encoded=encoded,
    )


def answer_hash(answer: Mapping[str, Any]) -> str:
    """Identity of a function and of the question that it answers."""
    return combined_hash(answer["function_name"], answer["source"], answer["status"], answer["question_hash"])


def in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    question_id: Callable[[Item], str],
    workers: int,
    told: Counted,
    last: Callable[[Result], str],
) -> list[Result]:
    """`work` on every item, results in the items' order. The first failure ends what has not begun and is raised."""
    results: dict[int, Result] = {}
    for place, result in longest_first(lambda place: work(items[place]), [*map(question_id, items)], workers):
        results[place] = result
        told(len(results), len(items), f"last {last(result)}")
    return [results[place] for place in range(len(items))]


def _row(answer: Row, packages: str, execution: Execution) -> Row:
    return {
        **{name: answer[name] for name in IDENTITY},
        "status": str(execution.status),
        "detail": execution.detail,
        "result": execution.encoded.decode() if execution.submitted else None,
        "stdout": execution.stdout,
        "stderr": execution.stderr,
        "wall_s": execution.wall_s,
        "cpu_s": execution.cpu_s,
        "peak_memory": execution.peak_memory,
        "answer_hash": answer_hash(answer),
        "packages": packages,
    }


def _remarks(rows: Sequence[Row]) -> Remarks:
    slowest = sorted(rows, key=lambda row: -row["wall_s"])[:5]
    lines = [
        f"| {row['question_id']} | {row['status']} | {row['wall_s']:.1f} | {row['cpu_s']:.1f} |" for row in slowest
    ]
    return {
        "executions": len(rows),
        "endings": endings(row["status"] for row in rows),
        "seconds of processor": sum(row["cpu_s"] for row in rows),
        "slowest": "\n".join(["| question | status | wall s | cpu s |", "|---|---|---|---|", *lines]),
    }


def task_of(row: Mapping[str, Any], tasks: Tasks) -> Task:
    """The question that a row is about."""
    return tasks[row["question_set"], row["question_id"]]
