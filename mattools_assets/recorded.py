"""Puts functions that models wrote elsewhere through the sandbox and the verification: one command, resumable.

    python -m mattools_assets.recorded PATH… [--questions PATH] [--files PATH] [--workers N]

Each PATH is a recorded run as JSON lines: `question_id`, `function_name`, `function_source`, or the published
harness's `question_file_path`, `function_name`, `function`. Verdicts go to
`$CONDMAT_DATA/mattools/recorded/<run>.jsonl`, one line a question, as they come; what is there is not run again unless
the function, the question or the environment changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS, run_answer
from mattools_assets.questions.inputs import InputFiles, InputFilesError, read_folder, unpack
from mattools_assets.questions.published import SEGMENTS, PublishedQuestion, PublishedQuestionError, read_published
from mattools_assets.verification.published import Mode, SandboxFailed, verify
from mattools_assets.verification.verdicts import Verdict
from resources.outcomes import Status
from resources.sandbox.environments import environment
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.sandbox.selection import open_sandbox
from resources.settings import SettingError, read_settings

FORMAT = 2


class RecordedRunError(ValueError):
    """A file that is not a recorded run; one line with the file, the line and the mend."""


@dataclass(frozen=True)
class RecordedAnswer:
    """What a model answered to one question; both texts are empty where its reply could not be parsed."""

    run: str
    question_id: str
    function_name: str
    source: str

    def digest(self, question: PublishedQuestion) -> str:
        """Changes with all that can change the verdict."""
        parts = [FORMAT, self.function_name, self.source, question.question.text, question.verification]
        parts += [environment(ENVIRONMENT).fingerprint, LIMITS]
        parts += [f"{name} {Path(str(path)).stat().st_size}" for name, path in sorted(question.question.files.items())]
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def read_run(path: Path) -> list[RecordedAnswer]:
    """The answers of one recorded run. Raises RecordedRunError."""
    answers: dict[str, RecordedAnswer] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordedRunError(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise RecordedRunError(f"{where}: not JSON: {error}") from None
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


def _text(entry: Any, where: str, *fields: str) -> str:
    for field in fields:
        if isinstance(entry, dict) and field in entry:
            value = entry[field]
            if isinstance(value, str) or value is None:
                return value or ""
    raise RecordedRunError(f"{where}: {' or '.join(fields)} is missing or no text")


@dataclass
class Results:
    """The verdicts of one run on disk; safe for several threads. A line that a killed run tore is ignored."""

    path: Path

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.rows: dict[str, dict[str, Any]] = {}
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            try:
                row = json.loads(line)
                self.rows[row["digest"]] = row
            except (json.JSONDecodeError, KeyError, TypeError):
                continue

    def add(self, row: dict[str, Any]) -> None:
        """Keeps a row, here and on disk."""
        with self._lock:
            torn = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                file.write(("\n" if torn and self.path.stat().st_size else "") + json.dumps(row) + "\n")
            self.rows[row["digest"]] = row


def judge(sandbox: Sandbox, question: PublishedQuestion, answer: RecordedAnswer) -> dict[str, Any]:
    """Executes and verifies one answer in both modes: the row of its verdicts. Raises SandboxFailed."""
    execution = run_answer(sandbox, answer.source, answer.function_name, question.question.files)
    verdicts = {mode.value: _row(verify(sandbox, question, execution, mode)) for mode in Mode}
    return {
        "digest": answer.digest(question),
        "run": answer.run,
        "origin": "recorded",
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
    sandbox: Sandbox,
    questions: Mapping[str, PublishedQuestion],
    runs: Iterable[list[RecordedAnswer]],
    folder: Path,
) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Verdict rows as they come, with how many are done and to do; those on disk first.

    Answers to questions whose data are missing here are left out: they stay unverified.
    """
    results: dict[str, Results] = {}
    waiting: list[tuple[PublishedQuestion, RecordedAnswer]] = []
    done: list[dict[str, Any]] = []
    for answers in runs:
        for answer in answers:
            stored = results.setdefault(answer.run, Results(folder / f"{answer.run}.jsonl"))
            question = questions.get(answer.question_id)
            if question is None:
                raise RecordedRunError(f"{answer.run}: there is no question {answer.question_id!r}")
            if not question.question.data_at_hand:
                continue
            row = stored.rows.get(answer.digest(question))
            if row is None:
                waiting.append((question, answer))
            else:
                done.append(row)
    total = len(done) + len(waiting)
    for count, row in enumerate(done, 1):
        yield row, count, total
    with ThreadPoolExecutor(sandbox.workers) as threads:
        futures = {threads.submit(judge, sandbox, *item): item[1] for item in waiting}
        try:
            for count, future in enumerate(as_completed(futures), len(done) + 1):
                answer = futures[future]
                try:
                    row = future.result()
                except SandboxFailed as failure:
                    row = {"run": answer.run, "question_id": answer.question_id, "status": Status.SANDBOX_ERROR.value}
                    row["detail"] = str(failure)
                else:
                    results[answer.run].add(row)
                yield row, count, total
        finally:
            threads.shutdown(cancel_futures=True)


def summary(rows: list[dict[str, Any]], questions: Mapping[str, PublishedQuestion]) -> list[str]:
    """One line a run and mode: runnable, properties and fully right questions, out of those whose data are at hand."""
    lines = []
    missing = [item.question for item in questions.values() if not item.question.data_at_hand]
    for run in sorted({row["run"] for row in rows}):
        for mode in Mode:
            scored = [row[mode.value] for row in rows if row["run"] == run and mode.value in row]
            lines.append(
                f"{run} [{mode}]: {sum(row['runnable'] for row in scored)} of {len(scored)} runnable, "
                f"{sum(row['passed'] for row in scored)} of {sum(row['properties'] for row in scored)} properties, "
                f"{sum(row['passed'] == row['properties'] for row in scored)} of {len(scored)} questions fully right; "
                f"unverified for want of data: {len(missing)} questions, "
                f"{sum(len(question.properties) for question in missing)} properties"
            )
    return lines


def _beside(path: Path, name: str | Path) -> Path | None:
    """The nearest `name` in the folders above `path`."""
    return next((folder / name for folder in path.absolute().parents if (folder / name).exists()), None)


def _questions(arguments: argparse.Namespace, data: Path) -> dict[str, PublishedQuestion]:
    first = arguments.paths[0]
    checkout = _beside(first, SEGMENTS)
    source = arguments.questions or _beside(first, "questions.jsonl") or (checkout and checkout.parents[2])
    if source is None:
        raise PublishedQuestionError(
            f"{first}: no questions beside it: give --questions (questions.jsonl or a checkout)"
        )
    place = arguments.files or _beside(source / "x" if source.is_dir() else source, "test_files.tar.xz")
    if place is None:
        files = InputFiles()
    else:
        files = read_folder(place) if place.is_dir() else unpack(place, data)
    return {item.question.id: item for item in read_published(source, files)}


def main(argv: list[str] | None = None) -> int:
    """The command; see the module."""
    parser = argparse.ArgumentParser(
        prog="python -m mattools_assets.recorded", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="recorded runs, JSON lines")
    parser.add_argument(
        "--questions", type=Path, help="questions.jsonl or a MatTools checkout; else looked for above PATH"
    )
    parser.add_argument("--files", type=Path, help="test_files.tar.xz or a folder tests/test_files; else beside them")
    parser.add_argument("--workers", type=int, help="executions at a time; by default one a processor")
    arguments = parser.parse_args(argv)
    start, rows = time.monotonic(), []
    try:
        settings = read_settings()
        questions = _questions(arguments, settings.data)
        runs = [read_run(path) for path in arguments.paths]
        with open_sandbox(ENVIRONMENT, settings, LIMITS, arguments.workers) as sandbox:
            for row, count, total in replay(sandbox, questions, runs, settings.data / "mattools" / "recorded"):
                rows.append(row)
                print(f"[{count}/{total}] {_progress(row)}", flush=True)
    except (SettingError, RecordedRunError, PublishedQuestionError, InputFilesError, SandboxUnavailable) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(summary(rows, questions)))
    print(f"{time.monotonic() - start:.0f} s")
    failed = [row for row in rows if row["status"] == Status.SANDBOX_ERROR]
    if failed:
        print(
            f"{len(failed)} answers met a sandbox failure and have no verdict: run the command again", file=sys.stderr
        )
    return 1 if failed else 0


def _progress(row: dict[str, Any]) -> str:
    paper = row.get(Mode.PAPER.value)
    points = f"{paper['passed']}/{paper['properties']}" if paper else row["detail"]
    return f"{row['run']} {row['question_id']}: {row['status']} {points} {row.get('wall_s', 0)} s"


if __name__ == "__main__":
    sys.exit(main())
