"""Puts functions that models wrote elsewhere through the sandbox and the verification: one command, resumable.

    python -m mattools_assets.recorded PATH… [--questions PATH] [--files PATH] [--workers N]

Each PATH is a recorded run as JSON lines: `question_id`, `function_name`, `function_source`, or the published
harness's `question_file_path`, `function_name`, `function`. Verdicts go to
`$CONDMAT_DATA/mattools/recorded/<run>.jsonl`, one line a question, as they come; what is there is not run again unless
the function, the question or the environment changed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mattools_assets.questions.inputs import InputFiles, InputFilesError, read_folder, unpack
from mattools_assets.questions.published import SEGMENTS, PublishedQuestion, PublishedQuestionError, read_published
from mattools_assets.questions.recordings import RecordedRunError, read_run, run_name
from mattools_assets.tool_usage.runs import kept_runs
from mattools_assets.verification.published import Mode
from mattools_assets.verification.replays import replay
from resources.interrupts import stopped
from resources.outcomes import Status
from resources.sandbox.pool import SandboxUnavailable
from resources.settings import SettingError, read_settings


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


def _no_name_twice(paths: list[Path]) -> None:
    names = [run_name(path) for path in paths]
    for name, path in zip(names, paths, strict=True):
        if names.count(name) > 1:
            raise RecordedRunError(
                f"{path}: two runs are called {name!r}, and results go by that name: rename one file"
            )


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
        _no_name_twice(arguments.paths)
        runs = [read_run(path) for path in arguments.paths]
        with kept_runs(settings, arguments.workers) as sandbox:
            for row, count, total in replay(sandbox, questions, runs, settings.data / "mattools" / "recorded"):
                rows.append(row)
                print(f"[{count}/{total}] {_progress(row)}", flush=True)
    except (SettingError, RecordedRunError, PublishedQuestionError, InputFilesError, SandboxUnavailable) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return stopped()
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
