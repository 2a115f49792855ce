"""The sandbox of tool usage with the store of what it did: opened when something is to be run that has not been."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS
from resources.sandbox.environments import environment
from resources.sandbox.kept import FILE_NAME, Executions, KeptRuns
from resources.sandbox.pool import Sandbox
from resources.sandbox.selection import open_sandbox
from resources.settings import Settings


@contextmanager
def kept_runs(settings: Settings, workers: int | None = None) -> Iterator[KeptRuns]:
    """Runs answers and verifications; its `run` raises SandboxUnavailable where there is no sandbox.

    `workers` is how many run at a time, by default one a processor.
    """

    def opening() -> Sandbox:
        return open_sandbox(ENVIRONMENT, settings, LIMITS, workers)

    with (
        Executions(settings.data / FILE_NAME) as executions,
        KeptRuns(executions, ENVIRONMENT, LIMITS, opening, workers) as runs,
    ):
        yield runs


def packages() -> str:
    """Identity of the packages in the sandbox."""
    return environment(ENVIRONMENT).fingerprint
