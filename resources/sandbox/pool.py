"""An open sandbox: warm workers of one environment, and `run`, which hands a script to one of them.

There is no way to run a script without isolation. A script that destroys its worker is the model's doing: it is tried
once more on a new worker, and when that goes the same way while an innocent script still runs, it is a `code_error`.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Protocol

from resources.outcomes import Status
from resources.sandbox.execution import Execution, failed
from resources.sandbox.inside.outputs import MAX_DEPTH, MAX_NAME
from resources.sandbox.limits import Limits
from resources.sandbox.worker import Worker, WorkerLost

RECYCLE_AFTER = 1000
TRIES = 2
INNOCENT = b"submit(1)"

log = logging.getLogger(__name__)


class SandboxUnavailable(RuntimeError):
    """Scripts cannot be run here; the message is one line that says why and what to do."""


class Backend(Protocol):
    """Starts workers for one environment."""

    name: str

    def start(self) -> Worker:
        """A new worker, not yet ready. Raises RuntimeError or OSError with one clear line."""


class Sandbox:
    """Runs scripts in one environment, at most `workers` at a time, from any number of threads. A context manager."""

    def __init__(self, backend: Backend, ceiling: Limits, workers: int) -> None:
        self.backend, self.ceiling, self.workers = backend, ceiling, workers
        self._slots = threading.BoundedSemaphore(workers)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._closed = False
        atexit.register(self.close)

    def run(
        self, code: str, files: Mapping[str, bytes | Path] | None = None, limits: Limits | None = None
    ) -> Execution:
        """Runs `code` as a script beside its input `files` (relative name to content, or to a file to read).

        The script hands its answer over with `submit(value)`; to call a function, append `submit(f())`. Raises
        ValueError for file names or limits that this sandbox cannot have; whatever the script does ends in an
        Execution.
        """
        limits = limits or self.ceiling
        limits.within(self.ceiling)
        contents = {
            name: data if isinstance(data, bytes) else data.read_bytes() for name, data in (files or {}).items()
        }
        check_files(contents, limits)
        with self._slots:
            return self._run(code.encode("utf-8", "replace"), contents, limits)

    def warm(self) -> None:
        """Starts the first workers, so that a sandbox that cannot work fails here. Raises SandboxUnavailable.

        Two at once where two may run: a worker's imports keep one processor busy for seconds.
        """
        first = min(2, self.workers)
        try:
            with ThreadPoolExecutor(first) as threads:
                started = list(threads.map(lambda _: self._take(), range(first)))
        except (RuntimeError, OSError) as error:
            raise SandboxUnavailable(f"the {self.backend.name} sandbox does not start: {error}") from error
        for worker in started:
            self._put(worker)

    def close(self) -> None:
        """Ends all workers. May be called again."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
            self._all.clear()
            self._idle.clear()
        for worker in workers:
            worker.close()
        atexit.unregister(self.close)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, code: bytes, files: Mapping[str, bytes], limits: Limits) -> Execution:
        start = time.monotonic()
        lost: WorkerLost | None = None
        for _ in range(TRIES):
            try:
                worker = self._take()
            except (RuntimeError, OSError) as error:
                return failed(Status.SANDBOX_ERROR, f"no worker starts: {error}")
            try:
                return worker.execute(code, files, limits)
            except WorkerLost as error:
                log.warning("%s", error)
                lost = error
            finally:
                self._put(worker)
        status = Status.CODE_ERROR if self._innocent_runs() else Status.SANDBOX_ERROR
        return failed(status, f"its sandbox was lost {TRIES} times: {lost}", time.monotonic() - start)

    def _innocent_runs(self) -> bool:
        """Whether a worker still does its work for a script that asks for nothing."""
        try:
            worker = self._take()
        except (RuntimeError, OSError):
            return False
        try:
            return worker.execute(INNOCENT, {}, self.ceiling).submitted
        except WorkerLost:
            return False
        finally:
            self._put(worker)

    def _take(self) -> Worker:
        with self._lock:
            if self._closed:
                raise RuntimeError("the sandbox is closed")
            if self._idle:
                return self._idle.pop()
        worker = self.backend.start()
        worker.wait_until_ready()
        with self._lock:
            self._all.add(worker)
        return worker

    def _put(self, worker: Worker) -> None:
        with self._lock:
            if worker.usable and worker.executions < RECYCLE_AFTER and not self._closed:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.close()


def check_names(names: Iterable[str]) -> None:
    """Raises ValueError for a name that is not a plain relative path, or that others have for a folder."""
    names = list(names)
    folders = {parent.as_posix(): name for name in names for parent in PurePosixPath(name).parents}
    for name in names:
        parts = PurePosixPath(name).parts
        plain = (
            name.isprintable() and str(PurePosixPath(name)) == name and ".." not in parts and not name.startswith("/")
        )
        if not plain or not 0 < len(parts) <= MAX_DEPTH or len(name) > MAX_NAME:
            raise ValueError(f"input file {name!r}: use a plain relative path such as data/map.csv")
        if name in folders:
            raise ValueError(f"input file {name!r} is the folder of {folders[name]!r}; rename one")


def check_files(files: Mapping[str, bytes], limits: Limits) -> None:
    """Raises ValueError for names that `check_names` refuses, or for more bytes than the limits allow."""
    check_names(files)
    for name, content in files.items():
        if len(content) > limits.file_size:
            raise ValueError(f"input file {name!r} has {len(content)} bytes, the limit is {limits.file_size}")
    total = sum(map(len, files.values()))
    if total > limits.disk // 2:
        raise ValueError(f"the input files have {total} bytes, half of the disk limit is {limits.disk // 2}")
