"""Work in several processes, with results that do not depend on how many."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import forkserver
from typing import Any, TypeVar

Result = TypeVar("Result")

WAITING_PER_WORKER = 2
"""Tasks handed out beyond the one at work; more would only hold results in memory."""


class WorkerError(RuntimeError):
    """A worker process died; the message says what to do."""


class TaskError(RuntimeError):
    """An exception of a task that cannot be sent between processes; the message has its type and its text."""


@dataclass(frozen=True)
class Workers:
    """How many processes work at a time; 0 works in this process.

    `preload` names the modules that the tasks need: they are imported once for all workers of this process.
    """

    count: int = 2
    preload: tuple[str, ...] = ()

    def map(self, task: Callable[..., Result], arguments: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Result]]:
        """`task(*arguments[i])` for all i, as pairs of i and result in the order in which they are ready.

        `task` must be a function of a module. An exception of a task is raised here, as a TaskError where it cannot
        be sent, after the results of those that had begun; what has not begun is dropped.
        """
        if self.count == 0 or not arguments:
            for index, values in enumerate(arguments):
                yield index, task(*values)
            return
        yield from self._spread(task, arguments)

    def _spread(
        self, task: Callable[..., Result], arguments: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Result]]:
        waiting: dict[Future[Result], int] = {}
        rest = iter(enumerate(arguments))
        pool = ProcessPoolExecutor(min(self.count, max(len(arguments), 1)), mp_context=_context(self.preload))
        try:
            for index, values in rest:
                waiting[pool.submit(_sendable, task, values)] = index
                if len(waiting) >= self.count * (1 + WAITING_PER_WORKER):
                    yield from _ready(waiting)
            while waiting:
                yield from _ready(waiting)
        except BrokenProcessPool:
            raise WorkerError("a worker process died, probably for want of memory; free some and run again") from None
        except Exception:
            yield from _already_begun(waiting)
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _sendable(task: Callable[..., Result], values: tuple[Any, ...]) -> Result:
    """The task's result, in the worker. An exception that cannot be read back would look like a worker's death."""
    try:
        return task(*values)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise TaskError(f"{type(error).__name__}: {error}") from error
        raise


def _ready(waiting: dict[Future[Result], int]) -> Iterator[tuple[int, Result]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    failed = [future for future in done if future.exception() is not None]
    for future in done.difference(failed):
        yield waiting.pop(future), future.result()
    for future in failed:
        del waiting[future]
    for future in failed:
        future.result()


def _already_begun(waiting: dict[Future[Result], int]) -> Iterator[tuple[int, Result]]:
    """Results of the tasks that had begun when another failed: what is computed is not lost."""
    begun = {future: index for future, index in waiting.items() if not future.cancel()}
    wait(begun)
    for future, index in begun.items():
        if future.exception() is None:
            yield index, future.result()


def _context(preload: tuple[str, ...]) -> multiprocessing.context.BaseContext:
    """Processes forked from a server that has imported `preload` and nothing else: quick, and safe beside threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    # Several threads of linear algebra in each of several workers only hinder one another.
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # Ctrl-C is for this process alone: workers finish what they have begun, and say nothing.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if before is None:
            del os.environ["OPENBLAS_NUM_THREADS"]
        else:
            os.environ["OPENBLAS_NUM_THREADS"] = before
    return context
