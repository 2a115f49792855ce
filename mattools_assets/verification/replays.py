"""Recorded answers through execution and verification, with verdicts kept on disk as they come."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS, run_answer
from mattools_assets.questions.published import PublishedQuestion
from mattools_assets.questions.recordings import RecordedAnswer, RecordedRunError
from mattools_assets.verification.published import Mode, SandboxFailed, verify
from mattools_assets.verification.verdicts import Verdict
from resources.outcomes import Status
from resources.sandbox.environments import environment
from resources.sandbox.execution import RunsScripts
from resources.sandbox.kept import KeptRuns
from resources.sandbox.longest_first import longest_first
from resources.sandbox.pool import Sandbox

FORMAT = 3
ORIGIN = "recorded"
UNVERIFIED = "unverified"


@dataclass
class Results:
    """The verdicts of one run on disk; safe for several threads.

    A line that cannot be read is ignored, as a killed run may tear one.
    """

    path: Path

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.rows: dict[str, dict[str, Any]] = {}
        for line in self.path.read_bytes().split(b"\n") if self.path.exists() else ():
            try:
                row = json.loads(line)
                self.rows[row["digest"]] = row
            except (ValueError, KeyError, TypeError, RecursionError):
                continue

    def add(self, row: dict[str, Any]) -> None:
        """Keeps a row, here and on disk."""
        with self._lock:
            torn = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                file.write(("\n" if torn and self.path.stat().st_size else "") + json.dumps(row) + "\n")
            self.rows[row["digest"]] = row

    def keep_unverified(self, question: PublishedQuestion, answer: RecordedAnswer) -> None:
        """Keeps that an answer cannot be verified, because files that its question needs are missing here."""
        row = {"digest": f"unverified {digest(question, answer)}", "run": answer.run, "origin": ORIGIN}
        if row["digest"] not in self.rows:
            detail = "files that the question needs are missing here"
            self.add({**row, "question_id": answer.question_id, "status": UNVERIFIED, "detail": detail})


def digest(question: PublishedQuestion, answer: RecordedAnswer) -> str:
    """Changes with all that can change the verdict."""
    parts = [FORMAT, answer.function_name, answer.source, question.question.text, question.verification]
    parts += [environment(ENVIRONMENT).fingerprint, LIMITS]
    parts += [f"{name} {Path(str(path)).stat().st_size}" for name, path in sorted(question.question.files.items())]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def judge(sandbox: RunsScripts, question: PublishedQuestion, answer: RecordedAnswer) -> dict[str, Any]:
    """Executes and verifies one answer in both modes: the row of its verdicts. Raises SandboxFailed."""
    execution = run_answer(sandbox, answer.source, answer.function_name, question.question.files)
    verdicts = {mode.value: _row(verify(sandbox, question, execution, mode)) for mode in Mode}
    return {
        "digest": digest(question, answer),
        "run": answer.run,
        "origin": ORIGIN,
        "question_id": answer.question_id,
        "status": execution.status.value,
        "detail": execution.detail,
        "error": execution.stderr.strip().splitlines()[-1][:300] if execution.stderr.strip() else "",
        "wall_s": round(execution.wall_s, 2),
        "cpu_s": round(execution.cpu_s, 2),
        **verdicts,
    }


def _row(verdict: Verdict) -> dict[str, Any]:
    findings = {item.name: [item.finding.value, item.detail] for item in verdict.properties}
    return {
        "runnable": verdict.runnable,
        "passed": verdict.n_passed,
        "properties": len(verdict.properties),
        "findings": findings,
    }


def replay(
    sandbox: Sandbox | KeptRuns,
    questions: Mapping[str, PublishedQuestion],
    runs: Iterable[list[RecordedAnswer]],
    folder: Path,
) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Verdict rows as they come, with how many are done and to do; those on disk first.

    Answers to questions whose data are missing here are kept on disk as unverified and not handed over.
    """
    results: dict[str, Results] = {}
    waiting: list[tuple[PublishedQuestion, RecordedAnswer]] = []
    done: list[dict[str, Any]] = []
    for answers in runs:
        for answer in answers:
            if answer.run not in results:
                results[answer.run] = Results(folder / f"{answer.run}.jsonl")
            stored = results[answer.run]
            question = questions.get(answer.question_id)
            if question is None:
                raise RecordedRunError(f"{answer.run}: there is no question {answer.question_id!r}")
            if not question.question.data_at_hand:
                stored.keep_unverified(question, answer)
                continue
            row = stored.rows.get(digest(question, answer))
            if row is None:
                waiting.append((question, answer))
            else:
                done.append(row)
    total = len(done) + len(waiting)
    for count, row in enumerate(done, 1):
        yield row, count, total

    def judge_and_keep(place: int) -> dict[str, Any]:
        question, answer = waiting[place]
        try:
            row = judge(sandbox, question, answer)
        except SandboxFailed as failure:
            status = Status.SANDBOX_ERROR.value
            return {"run": answer.run, "question_id": answer.question_id, "status": status, "detail": str(failure)}
        results[answer.run].add(row)
        return row

    kinds = [answer.question_id for _, answer in waiting]
    judged = longest_first(judge_and_keep, kinds, sandbox.workers)
    for count, (_, row) in enumerate(judged, len(done) + 1):
        yield row, count, total
