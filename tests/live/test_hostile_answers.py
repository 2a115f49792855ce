"""Cheating answers against both verifications on both backends: nothing is passed wrongly and nobody is hurt."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS, run_answer
from mattools_assets.questions.contract import Question
from mattools_assets.questions.own import own_questions
from mattools_assets.questions.own import verify as verify_own
from mattools_assets.questions.published import PublishedQuestion
from mattools_assets.verification.published import Mode, verify
from resources.outcomes import Status
from resources.sandbox import bubblewrap, docker_engine, environments, selection
from resources.sandbox.limits import GIBIBYTE, Limits
from resources.sandbox.pool import Sandbox
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings
from tests.live.hostile import HOSTILE, hostile_source

pytestmark = [pytest.mark.live, pytest.mark.slow]

SHORT = Limits(wall_s=60, cpu_s=20, memory=GIBIBYTE)
ROCK_SALT = next(own for own in own_questions() if own.question.id == "rock-salt")
# In the form of the published ones: it compares with numpy and isinstance, which answers try to bend.
VERIFICATION = """
def test_cell(properties):
    import numpy as np
    expected_properties = {
        "density": {"format": "float", "value": 2.16373},
        "elements": {"format": "list", "value": ["Na", "Cl"]},
        "matrix": {"format": "list", "value": [[5.69, 0.0], [0.0, 5.69]]},
        "has_inversion": {"format": "bool", "value": True},
    }
    errors = []
    for property_name, expected_info in expected_properties.items():
        expected, wanted = expected_info["value"], eval(expected_info["format"])
        if property_name not in properties:
            errors.append(f"{property_name} is missing")
            continue
        actual = properties[property_name]
        if not isinstance(actual, wanted):
            errors.append(f"{property_name}: not of type {wanted}")
        elif isinstance(expected, float) or property_name == "matrix":
            if not np.allclose(actual, expected):
                errors.append(f"{property_name}: Expected {expected}, got {actual}")
        elif actual != expected:
            errors.append(f"{property_name}: Expected {expected}, got {actual}")
    return [*errors, len(errors), len(expected_properties)] if errors else "ok"
"""
CELL = PublishedQuestion(
    Question("test_cell", "test", "The cell?", ("density", "elements", "matrix", "has_inversion")), VERIFICATION
)
RIGHT = """def right():
    return {"density": 2.16373, "elements": ["Na", "Cl"], "matrix": [[5.69, 0.0], [0.0, 5.69]], "has_inversion": True}
"""
# Truths are among what is asked for, so saying True everywhere is right once.
ALLOWED = {"returns true": 1}


@pytest.fixture(scope="module", params=(docker_engine.NAME, bubblewrap.NAME))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    settings = read_settings({**os.environ, "CONDMAT_SANDBOX": request.param})
    problem = selection.problem_with(request.param, environments.environment(ENVIRONMENT), settings)
    if problem is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(problem)
        pytest.skip(problem)
    with open_sandbox(ENVIRONMENT, settings, LIMITS, workers=1) as opened:
        yield opened


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_gained_from_our_own_verification(sandbox: Sandbox, name: str) -> None:
    source = hostile_source(name, ROCK_SALT.question.properties)
    execution = run_answer(sandbox, source, "hostile", {}, SHORT)
    verdict = verify_own(execution.result if execution.submitted else None, ROCK_SALT.properties)
    assert verdict.n_passed == 0
    assert execution.status is not Status.SANDBOX_ERROR
    if name == "looks for the verification":
        assert execution.result["density"] == ([], [], 0)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_gained_from_a_verification_function(sandbox: Sandbox, name: str, mode: Mode) -> None:
    execution = run_answer(sandbox, hostile_source(name, CELL.question.properties), "hostile", {}, SHORT)
    assert verify(sandbox, CELL, execution, mode).n_passed <= ALLOWED.get(name, 0)
    assert execution.status is not Status.SANDBOX_ERROR


def test_neighbours_are_unhurt_after_all_that(sandbox: Sandbox) -> None:
    execution = run_answer(sandbox, ROCK_SALT.solution, ROCK_SALT.function_name, ROCK_SALT.question.files)
    assert verify_own(execution.result, ROCK_SALT.properties).fully_right
    for mode in Mode:
        assert verify(sandbox, CELL, run_answer(sandbox, RIGHT, "right", {}), mode).fully_right
