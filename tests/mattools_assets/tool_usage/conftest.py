"""Own questions of plain values, and a store that holds their executions: no sandbox is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS
from mattools_assets.questions.own import OwnQuestion
from mattools_assets.tool_usage.question_sets import OWN, Task, all_tasks
from mattools_assets.tool_usage.runs import packages
from mattools_assets.verification.comparison import SCALARS
from mattools_assets.verification.examples import decoded
from resources.outcomes import Status
from resources.sandbox.encoding import encode
from resources.sandbox.execution import Execution
from resources.sandbox.kept import Executions, KeptRuns, execution_key
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.settings import Settings, read_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings({"CONDMAT_DATA": str(tmp_path / "data")})


@pytest.fixture
def tasks(settings: Settings) -> dict[tuple[str, str], Task]:
    """Three own questions whose properties are numbers, texts or truths."""
    plain = {
        key: task
        for key, task in all_tasks(settings).items()
        if all(item.expected.type in SCALARS for item in own(task).properties) and len(own(task).properties) > 1
    }
    return dict(list(plain.items())[:3])


def own(task: Task) -> OwnQuestion:
    assert isinstance(task.verified, OwnQuestion)
    assert task.question_set == OWN
    return task.verified


def right_answer(task: Task) -> dict[str, Any]:
    return {item.name: decoded(item.expected.type, item.expected.value) for item in own(task).properties}


def done(result: Any, status: Status = Status.OK, stderr: str = "") -> Execution:
    encoded = encode(result) if status is Status.OK else b""
    return Execution(
        "", stderr, result if encoded else None, bool(encoded), status, "", 1.0, 0.5, 1000, encoded=encoded
    )


def keep(folder: Path, task: Task, source: str, name: str, execution: Execution) -> None:
    """Puts into the store what executing a function of that source gives."""
    script = f"{source}\n\nsubmit({name}())\n"
    contents = {
        name: data if isinstance(data, bytes) else data.read_bytes() for name, data in task.question.files.items()
    }
    with Executions(folder / "executions.sqlite") as executions:
        executions.keep(execution_key(script, contents, LIMITS, packages()), execution)


@contextmanager
def store_alone(folder: Path) -> Iterator[KeptRuns]:
    """Runs what is kept and has no sandbox for anything else."""

    def opening() -> Sandbox:
        raise SandboxUnavailable("no sandbox in this test")

    with (
        Executions(folder / "executions.sqlite") as executions,
        KeptRuns(executions, ENVIRONMENT, LIMITS, opening) as runs,
    ):
        yield runs
