"""Runs an answering function in the sandbox and hands back what it returned, as inert data."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from pathlib import Path

from resources.outcomes import Status
from resources.sandbox.execution import Execution, RunsScripts, failed
from resources.sandbox.limits import GIBIBYTE, Limits

ENVIRONMENT = "mattools"
# The slowest published question takes 105 to 200 s of processor time by itself, and machines are shared.
LIMITS = Limits(wall_s=900.0, cpu_s=300.0, memory=3 * GIBIBYTE)


def run_answer(
    sandbox: RunsScripts,
    source: str,
    function_name: str,
    files: Mapping[str, bytes | Path],
    limits: Limits | None = None,
) -> Execution:
    """Executes `source`, calls `function_name()` and submits what it returns.

    The status is `no_code` where there is no source or the name is no name. `result` is the decoded return value.
    """
    if not source.strip() or not function_name.isidentifier() or keyword.iskeyword(function_name):
        return failed(Status.NO_CODE, "the reply holds no function")
    return sandbox.run(f"{source}\n\nsubmit({function_name}())\n", files, limits)
