"""Executions that are kept: what comes back, what is not kept, and what makes another execution."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from resources.outcomes import Status
from resources.sandbox.encoding import encode
from resources.sandbox.execution import Execution, failed
from resources.sandbox.kept import Executions, execution_key
from resources.sandbox.limits import Limits


def done(result: Any = None, stdout: str = "") -> Execution:
    return Execution(stdout, "", result, True, Status.OK, "", 1.0, 0.5, 1000, encoded=encode(result))


def test_executions_are_kept_but_not_the_sandboxs_failures(tmp_path: Path) -> None:
    key = execution_key("script", {"a": b"1"}, Limits(), "packages")
    result = {"numbers": np.array([1.5, math.nan]), "names": {"é"}, "nothing": None}
    with Executions(tmp_path / "new" / "done.sqlite") as executions:
        assert executions.get(key) is None
        assert executions.keep(key, failed(Status.SANDBOX_ERROR, "lost")).status is Status.SANDBOX_ERROR
        assert executions.get(key) is None
        executions.keep(key, done(result, "é\x1b"))
    with Executions(tmp_path / "new" / "done.sqlite") as executions:
        found = executions.get(key)
        assert found is not None
        assert repr(found.result) == repr(result)
        assert (found.stdout, found.status, found.wall_s, found.submitted) == ("é\x1b", Status.OK, 1.0, True)
        # Whoever keeps an execution first has the last word.
        assert executions.keep(key, done(1, "another")).stdout == "é\x1b"


def test_what_submitted_nothing_comes_back_without_a_result(tmp_path: Path) -> None:
    with Executions(tmp_path / "done.sqlite") as executions:
        kept = executions.keep("key", failed(Status.CODE_ERROR, "exit code 1"))
        assert (kept.submitted, kept.result, kept.encoded, kept.detail) == (False, None, b"", "exit code 1")


def test_an_execution_is_known_by_all_that_decides_it() -> None:
    limits = Limits()
    keys = {
        execution_key("script", {"a": b"1"}, limits, "packages"),
        execution_key("script ", {"a": b"1"}, limits, "packages"),
        execution_key("script", {"a": b"2"}, limits, "packages"),
        execution_key("script", {"b": b"1"}, limits, "packages"),
        execution_key("script", {"a": b"1", "b": b""}, limits, "packages"),
        execution_key("script", {"a": b"1"}, Limits(wall_s=1), "packages"),
        execution_key("script", {"a": b"1"}, limits, "others"),
    }
    assert len(keys) == 7
