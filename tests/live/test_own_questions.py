"""The own questions in the real sandbox: reference solutions are right, mutated ones are not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS, run_answer
from mattools_assets.questions.mutants import moved, near_miss
from mattools_assets.questions.own import OwnQuestion, Property, own_questions, verify
from mattools_assets.systems.replies import Function
from mattools_assets.verification.verdicts import Finding
from resources.outcomes import Status
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings

pytestmark = [pytest.mark.live, pytest.mark.slow]

QUESTIONS = own_questions()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        opened = open_sandbox(ENVIRONMENT, read_settings(), LIMITS, workers=2)
    except SandboxUnavailable as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
    with opened:
        yield opened


@pytest.fixture(scope="module")
def solved(sandbox: Sandbox) -> dict[str, tuple[OwnQuestion, object]]:
    """What every reference solution returned."""

    def solve(own: OwnQuestion) -> tuple[OwnQuestion, object]:
        execution = run_answer(sandbox, own.solution, own.function_name, own.question.files)
        assert execution.status is Status.OK, f"{own.question.id}: {execution.detail} {execution.stderr[-500:]}"
        return own, execution.result

    with ThreadPoolExecutor(sandbox.workers) as threads:
        return {own.question.id: (own, result) for own, result in threads.map(solve, QUESTIONS)}


def test_reference_solutions_are_right(solved: dict[str, tuple[OwnQuestion, object]]) -> None:
    wrong = [
        f"{name}, {item.name}: {item.detail}"
        for name, (own, result) in solved.items()
        for item in verify(result, own.properties).properties
        if not item.passed
    ]
    assert wrong == []
    assert len(solved) == len(QUESTIONS)


@pytest.mark.parametrize("mutate", [moved, near_miss], ids=["moved", "near miss"])
def test_every_mutated_solution_is_rejected(sandbox: Sandbox, mutate: Callable[[Function, Property], Function]) -> None:
    """One mutated solution a property: it fails for that property's value, and for nothing else."""

    def judged(pair: tuple[OwnQuestion, Property]) -> str:
        own, item = pair
        function = mutate(Function(own.solution, own.function_name), item)
        execution = run_answer(sandbox, function.source, function.name, own.question.files)
        assert execution.status is Status.OK, f"{own.question.id}, {item.name}: {execution.stderr[-500:]}"
        failed = {
            one.name: one.finding for one in verify(execution.result, own.properties).properties if not one.passed
        }
        return "" if failed == {item.name: Finding.WRONG_VALUE} else f"{own.question.id}, {item.name}: {failed}"

    pairs = [(own, item) for own in QUESTIONS for item in own.properties]
    with ThreadPoolExecutor(sandbox.workers) as threads:
        verdicts = list(threads.map(judged, pairs))
    assert [problem for problem in verdicts if problem] == []
    assert len(verdicts) == sum(len(own.properties) for own in QUESTIONS) >= 150
