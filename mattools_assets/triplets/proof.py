"""The proof of a triplet, in the sandbox, before a person sees it: its verification accepts what is right alone."""

from __future__ import annotations

from collections.abc import Iterator

from mattools_assets.questions.answering import run_answer
from mattools_assets.questions.mutants import near_miss
from mattools_assets.questions.own import OwnQuestion, verify
from mattools_assets.systems.replies import Function
from mattools_assets.verification.published import SandboxFailed
from mattools_assets.verification.verdicts import Finding
from resources.outcomes import Status
from resources.sandbox.execution import Execution, RunsScripts

MAX_LINE = 300


def unproven(own: OwnQuestion, runs: RunsScripts) -> list[str]:
    """What is wrong with a triplet, a line each; nothing when it is proven.

    The solution passes; the empty answer, None alone and one mutant a property do not, the mutant for its value; the
    question names every property and file. Raises SandboxFailed, and SandboxUnavailable from `runs`.
    """
    problems = [*_unnamed(own), *_passing_for_nothing(own)]
    try:
        problems += _solution_fails(own, runs)
        if not problems:
            problems += _mutants_pass(own, runs)
    except ValueError as error:  # files that are larger than the sandbox takes
        problems.append(str(error))
    return [" ".join(problem.split())[:MAX_LINE] for problem in problems]


def _unnamed(own: OwnQuestion) -> Iterator[str]:
    for name in (*own.question.properties, *own.question.files):
        if f"`{name}`" not in own.question.text:
            yield f"the question does not name {name}"


def _passing_for_nothing(own: OwnQuestion) -> Iterator[str]:
    for what, answer in (("the empty answer", {}), ("None for everything", dict.fromkeys(own.question.properties))):
        verdict = verify(answer, own.properties)
        if verdict.runnable or verdict.n_passed:
            yield f"{what} passes"


def _solution_fails(own: OwnQuestion, runs: RunsScripts) -> Iterator[str]:
    execution = _executed(own, Function(own.solution, own.function_name), runs)
    if execution.status is not Status.OK or not execution.submitted:
        last = execution.stderr.strip().splitlines()[-1:] or [execution.detail]
        yield f"the solution does not run: {execution.status}: {last[0]}"
        return
    for item in verify(execution.result, own.properties).properties:
        if not item.passed:
            yield f"the solution fails, {item.name}: {item.detail}"


def _mutants_pass(own: OwnQuestion, runs: RunsScripts) -> Iterator[str]:
    for item in own.properties:
        execution = _executed(own, near_miss(Function(own.solution, own.function_name), item), runs)
        if execution.status is not Status.OK:
            yield f"the mutant of {item.name} does not run: {execution.stderr.strip().splitlines()[-1:]}"
            continue
        failed = {
            one.name: one.finding for one in verify(execution.result, own.properties).properties if not one.passed
        }
        if failed != {item.name: Finding.WRONG_VALUE}:
            found = ", ".join(f"{name} {finding}" for name, finding in failed.items()) or "nothing"
            yield f"the mutant of {item.name} is not rejected for its value; what failed: {found}"


def _executed(own: OwnQuestion, function: Function, runs: RunsScripts) -> Execution:
    execution = run_answer(runs, function.source, function.name, own.question.files)
    if not execution.status.is_scored:
        raise SandboxFailed(execution.detail)
    return execution
