"""Work in several processes. The tasks are functions that every Python has, so that workers can import them."""

from __future__ import annotations

import math
import operator
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from bpe_openai.errors import raise_token_limit

from resources.workers import TaskError, WorkerError, Workers


@pytest.mark.parametrize("count", [0, 1, 2])
def test_every_argument_gives_its_result_once(count: int) -> None:
    results = dict(Workers(count).map(math.factorial, [(value,) for value in range(20)]))
    assert results == {value: math.factorial(value) for value in range(20)}


def test_nothing_to_do_is_no_error() -> None:
    assert list(Workers(2).map(math.factorial, [])) == []


def test_workers_are_other_processes_and_as_many_as_asked() -> None:
    ask_for_parent = (["sh", "-c", "sleep 0.1; echo $PPID"],)
    processes = {int(text) for _, text in Workers(2).map(subprocess.check_output, [ask_for_parent] * 12)}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert [pid for _, pid in Workers(0).map(os.getpid, [()])] == [os.getpid()]


@pytest.mark.parametrize("count", [0, 2])
def test_an_error_of_a_task_arrives_as_itself(count: int) -> None:
    results = Workers(count).map(operator.truediv, [(1, divisor) for divisor in (1, 2, 0, 4)])
    with pytest.raises(ZeroDivisionError):
        list(results)


@pytest.mark.parametrize(
    ("task", "values", "message"),
    [
        # This one cannot be read back, that one not even written.
        (raise_token_limit, (3, 2), "^TokenLimitError: Input produces 3 tokens"),
        (exec, ("class Own(Exception): pass\nraise Own('of a kind of its own')", {}), "^Own: of a kind of its own$"),
    ],
)
def test_an_error_that_cannot_be_sent_says_what_it_was(
    task: Callable[..., Any], values: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TaskError, match=message):
        list(Workers(1).map(task, [values]))


def test_a_dead_worker_is_one_line() -> None:
    with pytest.raises(WorkerError, match="a worker process died, probably for want of memory"):
        list(Workers(1).map(os._exit, [(1,)]))


def test_a_failing_task_takes_no_neighbour_with_it() -> None:
    """The slow task has begun when the other fails: its result comes before the error."""
    slow, failing = (["sh", "-c", "sleep 1; echo done"],), (["sh", "-c", "exit 3"],)
    results = Workers(2).map(subprocess.check_output, [slow, failing])
    assert next(results) == (0, b"done\n")
    with pytest.raises(subprocess.CalledProcessError):
        next(results)
