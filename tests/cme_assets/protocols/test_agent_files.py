"""What an agent's script finds and what it may hand over; what an agent is told."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cme_assets.protocols.agent_files import map_files, submitted_numbers
from cme_assets.protocols.agent_prompts import SHOWN_OUTPUT, code_messages, react_messages, trial_report
from resources.agent_limits import AgentLimits
from resources.outcomes import Status
from resources.sandbox.execution import Execution
from resources.settings import read_settings
from tests.cme_assets.protocols.peaks import PLACES, peak_problem


def test_the_map_is_an_ordinary_csv_file() -> None:
    problem = peak_problem()
    files = map_files(problem, problem.test)
    assert sorted(files) == ["map.csv", "map.json"]
    frame = pd.read_csv(io.BytesIO(files["map.csv"]), index_col=0)
    assert np.array_equal(frame.to_numpy(), problem.test.table.counts)
    assert frame.index.to_numpy() == pytest.approx(problem.test.table.rows)
    assert frame.columns.to_numpy(dtype=float) == pytest.approx(problem.test.table.columns)
    assert json.loads(files["map.json"]) == {
        "given": [{"name": "temperature", "value": 20.0, "unit": "K"}],
        "listed": None,
        "wanted": 1,
        "fwhm_rows": 0.01,
        "fwhm_columns": 0.01,
    }


def test_no_answer_is_in_any_file_and_the_questions_in_no_message() -> None:
    problem, limits = peak_problem(), AgentLimits()
    for exhibit in (*problem.examples, problem.test):
        stored = b"".join(map_files(problem, exhibit).values())
        assert not any(f"{place:.6g}".encode() in stored for place in PLACES)
    for messages in (code_messages(problem, limits), react_messages(problem, limits, True)):
        text = messages[0]["content"]
        assert [f"{place:.6g}" in text for place in PLACES] == [True, True, True, False]


@pytest.mark.parametrize(
    ("result", "numbers"),
    [
        ([1, 2.5], (1.0, 2.5)),
        ((1,), (1.0,)),
        (3, (3.0,)),
        (np.float32(0.5), (0.5,)),
        (np.array([[1.0, 2.0]]), (1.0, 2.0)),
        ([np.array([1.5]), np.float64(2.0)], (1.5, 2.0)),
        ([], ()),
        (10**400, (math.inf,)),
        ("0.5", None),
        (["0.5"], None),
        ([True], None),
        (1 + 2j, None),
        (np.array([1j]), None),
        ({"a": 1.0}, None),
        ([[1.0, 2.0]], None),
        (None, None),
        (np.array(["1.0"]), None),
    ],
)
def test_numbers_of_a_result(result: object, numbers: tuple[float, ...] | None) -> None:
    assert submitted_numbers(result) == numbers


def done(**more: Any) -> Execution:
    return Execution(
        **{
            "stdout": "",
            "stderr": "",
            "result": [0.0],
            "submitted": True,
            "status": Status.OK,
            "detail": "",
            "wall_s": 1.0,
            "cpu_s": 0.5,
            "peak_memory": 1000,
            **more,
        }
    )


def test_reports_show_both_ends_of_long_output_and_what_is_wrong_with_an_answer() -> None:
    problem = peak_problem()
    long = done(stdout="first" + "x" * 10 * SHOWN_OUTPUT + "last")
    report = trial_report(problem, [long, done(result="text"), done(submitted=False)], 3)
    assert len(report) < 2 * SHOWN_OUTPUT
    assert "first" in report
    assert "last" in report
    assert "characters left out" in report
    assert "not a list of numbers" in report
    assert "nothing was submitted" in report
    assert "2 numbers were submitted where 1 are asked" in trial_report(problem, [done(result=[1.0, 2.0])], 3)
    assert f"residuals: [{-PLACES[0]:.6g}]" in trial_report(problem, [done()], 3)


def test_limits_come_from_the_settings_and_make_a_variant() -> None:
    settings = read_settings({"CONDMAT_AGENT_LIMITS": " tokens=5e4, steps=20"})
    limits = AgentLimits.of(dict(settings.agent_limits))
    assert (limits.steps, limits.tokens, limits.variant) == (20, 50_000, "steps 20, tokens 50000")
    assert AgentLimits.of({"steps": 10}).variant == "published"


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"step": 3.0}, "there is no agent limit 'step'; use steps, tokens"), ({"steps": 2.5}, "use a whole number")],
)
def test_limits_that_there_are_not(changed: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AgentLimits.of(changed)
