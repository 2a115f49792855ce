"""The own questions in the real sandbox: reference solutions are right, mutants and hostile functions are not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS, run_answer
from mattools_assets.questions.own import OwnQuestion, own_questions, verify
from mattools_assets.verification.verdicts import Finding, Verdict
from resources.outcomes import Status
from resources.sandbox.limits import GIBIBYTE, Limits
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings

pytestmark = [pytest.mark.live, pytest.mark.slow]

QUESTIONS = own_questions()
SHORT = Limits(wall_s=60, cpu_s=20, memory=GIBIBYTE)


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


def test_mutants_of_real_results_fail(sandbox: Sandbox, solved: dict[str, tuple[OwnQuestion, object]]) -> None:
    """Each mutant, made by Python inside the sandbox beside the solution's other values, fails alone."""

    def mutated(own: OwnQuestion) -> list[str]:
        values = {item.name: mutant_source(item.expected.type, item.mutant) for item in own.properties}
        entries = ", ".join(f"{name!r}: {text}" for name, text in values.items())
        source = (
            "def mutants():\n    import numpy as np\n    from pymatgen.core import Composition, Lattice, Structure\n"
        )
        execution = run_answer(sandbox, f"{source}    return {{{entries}}}\n", "mutants", {})
        assert execution.status is Status.OK, execution.stderr
        _, right = solved[own.question.id]
        assert isinstance(right, dict)
        problems = []
        for item in own.properties:
            verdict = verify({**right, item.name: execution.result[item.name]}, own.properties)
            failed = {one.name: one.finding for one in verdict.properties if not one.passed}
            if failed != {item.name: Finding.WRONG_VALUE}:
                problems.append(f"{own.question.id}, {item.name}: {failed}")
        return problems

    with ThreadPoolExecutor(sandbox.workers) as threads:
        assert [problem for problems in threads.map(mutated, QUESTIONS) for problem in problems] == []


def mutant_source(type_name: str, mutant: object) -> str:
    """An expression that makes the mutant as an object of the right type, so that its value alone is wrong."""
    if type_name == "structure":
        assert isinstance(mutant, dict)
        elements, positions = [site[0] for site in mutant["sites"]], [site[1:] for site in mutant["sites"]]
        return f"Structure(Lattice.from_parameters(*{mutant['cell']}), {elements}, {positions})"
    if type_name == "composition":
        return f"Composition({mutant})"
    if type_name.startswith("set of "):
        return f"set({mutant})"
    if type_name.startswith("array of "):
        return f"np.array({mutant}, dtype={type_name.removeprefix('array of ')})"
    return repr(mutant)


HOSTILE = {
    "prints the verdict": "print('ok')\n    return {}",
    "returns a generator": "return (pair for pair in [('density', 2.16373)])",
    "lies about equality": """class Lie(float):
        def __eq__(self, other): return True
        def __sub__(self, other): return 0.0
        def __rsub__(self, other): return 0.0
        __hash__ = float.__hash__
        __class__ = property(lambda self: float)
    return {name: Lie(9) for name in NAMES}""",
    "is a false dictionary": """class False_(dict):
        def items(self): return [(name, True) for name in NAMES]
        def __getitem__(self, key): return 8
    return False_()""",
    "returns NaN": "return {name: float('nan') for name in NAMES}",
    "returns infinities": "return {name: float('inf') for name in NAMES}",
    "returns itself": "loop = {}\n    loop.update({name: loop for name in NAMES})\n    return loop",
    "returns a huge array": "import numpy\n    return {name: numpy.ones((4096, 4096)) for name in NAMES}",
    "returns true": "return {name: True for name in NAMES}",
    "equals anything": "from unittest.mock import ANY\n    return {name: ANY for name in NAMES}",
    "patches numpy": """import numpy
    numpy.abs = numpy.isfinite = lambda *_, **__: numpy.array(True)
    numpy.testing.assert_allclose = lambda *_, **__: None
    return {name: 0 for name in NAMES}""",
    "patches the encoder": """import json
    json.JSONEncoder.encode = lambda *_: '{"t":"eval","v":"True"}'
    return {name: 1 for name in NAMES}""",
    "looks for the verification": """import glob, importlib.util, sys
    places = {*sys.path, '/work', '/tmp', '/home', '/root', '/srv', '/opt'}
    files = [path for place in places for path in glob.glob(f'{place}/*/questions') + glob.glob(f'{place}/*.yaml')]
    packages = [name for name in ('mattools_assets', 'cme_assets') if importlib.util.find_spec(name)]
    return {name: (files, packages) for name in NAMES}""",
    "leaves": "import os\n    os._exit(0)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_gain_nothing(sandbox: Sandbox, name: str) -> None:
    own = next(own for own in QUESTIONS if own.question.id == "rock-salt")
    source = f"NAMES = {list(own.question.properties)!r}\n\ndef hostile():\n    {HOSTILE[name]}\n"
    execution = run_answer(sandbox, source, "hostile", {}, SHORT)
    verdict: Verdict = verify(execution.result if execution.submitted else None, own.properties)
    assert verdict.n_passed == 0
    assert execution.status is not Status.SANDBOX_ERROR
    if name == "looks for the verification":
        assert execution.result["density"] == ([], [])


def test_neighbours_are_unhurt_after_all_that(sandbox: Sandbox) -> None:
    own = next(own for own in QUESTIONS if own.question.id == "rock-salt")
    execution = run_answer(sandbox, own.solution, own.function_name, own.question.files)
    assert verify(execution.result, own.properties).fully_right
