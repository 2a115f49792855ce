"""Runs an answering function in the sandbox and hands back what it returned, as inert data."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from pathlib import Path

from resources.outcomes import Status
from resources.sandbox.environments import environment
from resources.sandbox.execution import Execution, RunsScripts, failed
from resources.sandbox.kept import Executions, execution_key
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
    if not _is_callable(source, function_name):
        return failed(Status.NO_CODE, "the reply holds no function")
    return sandbox.run(_script(source, function_name), files, limits)


def run_kept(
    sandbox: RunsScripts, executions: Executions, source: str, function_name: str, files: Mapping[str, bytes | Path]
) -> Execution:
    """The same within LIMITS, and not done again where `executions` has it."""
    if not _is_callable(source, function_name):
        return failed(Status.NO_CODE, "the reply holds no function")
    contents = {name: data if isinstance(data, bytes) else data.read_bytes() for name, data in files.items()}
    key = execution_key(_script(source, function_name), contents, LIMITS, environment(ENVIRONMENT).fingerprint)
    kept = executions.get(key)
    return kept or executions.keep(key, run_answer(sandbox, source, function_name, contents, LIMITS))


def _script(source: str, function_name: str) -> str:
    return f"{source}\n\nsubmit({function_name}())\n"


def _is_callable(source: str, function_name: str) -> bool:
    return bool(source.strip()) and function_name.isidentifier() and not keyword.iskeyword(function_name)
