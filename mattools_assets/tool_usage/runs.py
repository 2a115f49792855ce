"""The sandbox of tool usage with the store of what it did: opened when something is to be run that has not been."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS
from resources.sandbox.environments import environment
from resources.sandbox.kept import FILE_NAME, Executions, KeptRuns
from resources.sandbox.selection import open_sandbox
from resources.settings import Settings


@contextmanager
def kept_runs(settings: Settings) -> Iterator[KeptRuns]:
    """Runs answers and verifications; its `run` raises SandboxUnavailable where there is no sandbox."""
    with (
        Executions(settings.data / FILE_NAME) as executions,
        KeptRuns(executions, ENVIRONMENT, LIMITS, lambda: open_sandbox(ENVIRONMENT, settings, LIMITS)) as runs,
    ):
        yield runs


def packages() -> str:
    """Identity of the packages in the sandbox."""
    return environment(ENVIRONMENT).fingerprint


def at_once() -> int:
    """How many executions run at a time."""
    return os.cpu_count() or 1
