"""Executions that were done, so that a killed run goes on with the very same outputs.

What a script did is part of an agent's next request, and times and memory differ from one execution to the next: done
again, an execution could ask the model, and pay, for another conversation. And what took minutes need not be done
twice. An execution is known by what decides it: the script, its files, its limits and the versions of the packages.
Failures of the sandbox are not kept, nor are the files that a script wrote.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import zstandard

from resources.outcomes import Status
from resources.sandbox import environments
from resources.sandbox.decoding import decode
from resources.sandbox.execution import Execution
from resources.sandbox.limits import Limits
from resources.sandbox.pool import Sandbox

FILE_NAME = "executions.sqlite"
BUSY_SECONDS = 60.0
_KEPT = ("stdout", "stderr", "submitted", "status", "detail", "wall_s", "cpu_s", "peak_memory")


class Executions:
    """Executions in the SQLite file at `path`, shared by threads and processes. A context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
        self._database.execute("pragma journal_mode = wal")
        self._database.execute("create table if not exists done (key text primary key, outcome blob not null)")

    def get(self, key: str) -> Execution | None:
        """The execution kept under `key`."""
        with self._lock:
            row = self._database.execute("select outcome from done where key = ?", (key,)).fetchone()
        return None if row is None else _execution(json.loads(zstandard.decompress(row[0])))

    def keep(self, key: str, execution: Execution) -> Execution:
        """The execution that counts: `execution`, or the one that another process has kept first."""
        if not execution.status.is_scored:
            return execution
        outcome = zstandard.compress(json.dumps(_columns(execution)).encode())
        with self._lock:
            self._database.execute("insert or ignore into done values (?, ?)", (key, outcome))
        return self.get(key) or execution

    def __enter__(self) -> Executions:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()


class KeptRuns:
    """Runs scripts as a sandbox does, but none that is kept; the sandbox is opened for the first that is not.

    `opening` gives a sandbox of `environment` whose ceiling is `ceiling`; it may raise SandboxUnavailable, and then
    `run` does. `workers` is how many scripts it runs at a time. Safe for several threads. A context manager.
    """

    def __init__(
        self,
        executions: Executions,
        environment: str,
        ceiling: Limits,
        opening: Callable[[], Sandbox],
        workers: int | None = None,
    ) -> None:
        self._executions, self._opening, self._ceiling = executions, opening, ceiling
        self.workers = workers or os.cpu_count() or 1
        self._packages = environments.environment(environment).fingerprint
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None

    def run(
        self, code: str, files: Mapping[str, bytes | Path] | None = None, limits: Limits | None = None
    ) -> Execution:
        """The execution that was kept, or a new one; see `Sandbox.run`."""
        contents = {
            name: data if isinstance(data, bytes) else data.read_bytes() for name, data in (files or {}).items()
        }
        key = execution_key(code, contents, limits or self._ceiling, self._packages)
        kept = self._executions.get(key)
        return kept or self._executions.keep(key, self._opened().run(code, contents, limits))

    def _opened(self) -> Sandbox:
        with self._lock:
            self._sandbox = self._sandbox or self._opening()
            return self._sandbox

    def __enter__(self) -> KeptRuns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sandbox is not None:
            self._sandbox.close()


def execution_key(script: str, files: Mapping[str, bytes], limits: Limits, packages: str) -> str:
    """Identity of an execution; `packages` is the environment's fingerprint."""
    digest = hashlib.sha256()
    for part in (
        packages.encode(),
        json.dumps(dataclasses.asdict(limits)).encode(),
        script.encode("utf-8", "replace"),
        *(item for name, content in sorted(files.items()) for item in (name.encode(), content)),
    ):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _columns(execution: Execution) -> dict[str, Any]:
    return {name: getattr(execution, name) for name in _KEPT} | {"encoded": execution.encoded.decode()}


def _execution(columns: dict[str, Any]) -> Execution:
    encoded = columns.pop("encoded").encode()
    result = decode(encoded, len(encoded)) if columns["submitted"] else None
    return Execution(**columns | {"status": Status(columns["status"]), "result": result, "encoded": encoded})
