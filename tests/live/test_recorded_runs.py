"""Published questions and recorded runs of real models, where the user's files are at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS, run_answer
from mattools_assets.questions.inputs import unpack
from mattools_assets.questions.published import PublishedQuestion, read_published
from mattools_assets.questions.recordings import read_run
from mattools_assets.verification.published import INVERTED, Mode, verify
from mattools_assets.verification.replays import UNVERIFIED, replay
from resources.outcomes import Status
from resources.sandbox.execution import Execution
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings

pytestmark = [pytest.mark.live, pytest.mark.slow]

SHARED = Path(__file__).parents[3] / "shared" / "mattools"
RUN = SHARED / "recorded" / "self_reflection_source4__gpt-4o-2024-08-06__run1.jsonl"
REPLAY = SHARED / "independent_replay__self_reflection_source4__gpt-4o-2024-08-06__run1.json"
# It alone takes minutes, and shows nothing that the others do not.
SLOW = ("test_ase_supercells", "test_closest_sc_mat")


def missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        opened = open_sandbox(ENVIRONMENT, read_settings(), LIMITS, workers=2)
    except SandboxUnavailable as error:
        missing(str(error))
    with opened:
        yield opened


@pytest.fixture(scope="module")
def questions() -> dict[str, PublishedQuestion]:
    if not SHARED.is_dir():
        missing(f"the published questions are not in {SHARED}")
    files = unpack(SHARED / "test_files.tar.xz", read_settings().data)
    return {item.question.id: item for item in read_published(SHARED / "questions.jsonl", files)}


def test_the_published_set_is_whole(questions: dict[str, PublishedQuestion]) -> None:
    at_hand = [item.question for item in questions.values() if item.question.data_at_hand]
    assert (len(questions), sum(len(item.question.properties) for item in questions.values())) == (49, 138)
    assert (len(at_hand), sum(len(question.properties) for question in at_hand)) == (28, 93)


@pytest.fixture(scope="module")
def ceilings(sandbox: Sandbox, questions: dict[str, PublishedQuestion]) -> dict[Mode, dict[str, tuple[int, int]]]:
    """(passed, all) by mode and question for the published right values, made in one execution, verified in another."""

    def judge(item: PublishedQuestion) -> tuple[str, dict[Mode, tuple[int, int]]]:
        execution = run_answer(sandbox, item.reference_source, "reference_answer", {})
        assert execution.status is Status.OK, f"{item.question.id}: {execution.stderr[-400:]}"
        points = {}
        for mode in Mode:
            verdict = verify(sandbox, item, execution, mode)
            points[mode] = (verdict.n_passed, len(verdict.properties))
        return item.question.id, points

    with ThreadPoolExecutor(sandbox.workers) as threads:
        found = list(threads.map(judge, questions.values()))
    return {mode: {name: points[mode] for name, points in found} for mode in Mode}


def test_corrected_ceiling(ceilings: dict[Mode, dict[str, tuple[int, int]]]) -> None:
    assert {name for name, (passed, total) in ceilings[Mode.CORRECTED].items() if passed != total} == set()
    assert sum(passed for passed, _ in ceilings[Mode.CORRECTED].values()) == 138


def test_corrected_ceiling_where_data_are_at_hand(
    ceilings: dict[Mode, dict[str, tuple[int, int]]], questions: dict[str, PublishedQuestion]
) -> None:
    points = [points for name, points in ceilings[Mode.CORRECTED].items() if questions[name].question.data_at_hand]
    assert (len(points), sum(passed for passed, _ in points)) == (28, 93)


def test_paper_ceiling(ceilings: dict[Mode, dict[str, tuple[int, int]]]) -> None:
    short = {name: points for name, points in ceilings[Mode.PAPER].items() if points[0] != points[1]}
    assert short == dict.fromkeys(INVERTED, (0, 2))
    assert sum(passed for passed, _ in ceilings[Mode.PAPER].values()) == 134


def test_recorded_run_agrees_with_an_independent_replay(
    sandbox: Sandbox, questions: dict[str, PublishedQuestion], tmp_path: Path
) -> None:
    if not REPLAY.exists():
        missing(f"{REPLAY} is not there")
    independent = {row["question_id"]: row for row in json.loads(REPLAY.read_text())}
    answers = [answer for answer in read_run(RUN) if answer.question_id not in SLOW]
    rows = [row for row, _, _ in replay(sandbox, questions, [answers], tmp_path)]
    assert len(rows) == 28 - len(SLOW)
    assert {row["question_id"]: said(row) for row in rows} == {
        row["question_id"]: theirs(independent[row["question_id"]]) for row in rows
    }
    stored = (tmp_path / RUN.name).read_bytes()
    assert sum(row["status"] == UNVERIFIED for row in map(json.loads, stored.splitlines())) == 49 - 28
    again = [row for row, _, _ in replay(sandbox, questions, [answers], tmp_path)]
    assert sorted(row["digest"] for row in again) == sorted(row["digest"] for row in rows)
    assert (tmp_path / RUN.name).read_bytes() == stored  # nothing was run or written again


def said(row: dict[str, Any]) -> tuple[str, Any]:
    paper = row["paper"]
    if not paper["runnable"]:
        return "function error", None
    right = paper["passed"] == paper["properties"]
    return ("ok", "all") if right else ("wrong", paper["passed"])


def theirs(row: dict[str, Any]) -> tuple[str, Any]:
    return row["verdict"], row["passed"]


def attempt(sandbox: Sandbox, question: PublishedQuestion, body: str) -> Execution:
    return run_answer(sandbox, f"def hostile():\n    {body}\n", "hostile", question.question.files)


@pytest.mark.parametrize(
    "body",
    [
        "print('ok')\n    return {}",
        "import unittest.mock as m\n    return {'adsorbate_name': m.ANY, 'adsorbate_description': m.ANY}",
        "return {'adsorbate_name': ('condmat-evals object', 'element', 'H'), 'adsorbate_description': None}",
        "open('verification.py', 'w').write('def test_adsorbate(p): return \"ok\"')\n    return {'a': 1}",
        "open('typed_values.py', 'w').write('raise SystemExit')\n    return {'a': 1}",
        "import numpy, builtins\n    builtins.isinstance = lambda *a: True\n    return {'adsorbate_name': 1}",
    ],
)
@pytest.mark.parametrize("mode", Mode)
def test_hostile_answers_gain_nothing(
    sandbox: Sandbox, questions: dict[str, PublishedQuestion], body: str, mode: Mode
) -> None:
    question = questions["test_adsorbate"]
    assert verify(sandbox, question, attempt(sandbox, question, body), mode).n_passed == 0


@pytest.mark.parametrize("value", ["numpy.empty((0, 3))", "numpy.inf", "numpy.nan", "[numpy.nan]", "[]", "''"])
def test_values_that_are_none_pass_nowhere(
    sandbox: Sandbox, questions: dict[str, PublishedQuestion], value: str
) -> None:
    for name in ("test_kumagai", "test_plane_spacing", "test_get_SRH_coef", "test_interstitial", "test_boltzmann"):
        names = list(questions[name].question.properties)
        body = f"import numpy\n    return {{name: {value} for name in {names!r}}}"
        execution = attempt(sandbox, questions[name], body)
        assert verify(sandbox, questions[name], execution, Mode.CORRECTED).n_passed == 0


def test_none_alone_is_runnable_in_paper_mode_only(sandbox: Sandbox, questions: dict[str, PublishedQuestion]) -> None:
    question = questions["test_adsorbate"]
    execution = attempt(sandbox, question, "return {'adsorbate_name': None, 'adsorbate_description': None}")
    verdicts = {mode: verify(sandbox, question, execution, mode) for mode in Mode}
    assert verdicts[Mode.PAPER].runnable
    assert not verdicts[Mode.CORRECTED].runnable
    assert {verdict.n_passed for verdict in verdicts.values()} == {0}
