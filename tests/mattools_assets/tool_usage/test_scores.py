"""From answers to scores, with executions that the store holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mattools_assets.questions.contract import Question
from mattools_assets.questions.published import PublishedQuestion
from mattools_assets.tool_usage.answers import keyless_answers
from mattools_assets.tool_usage.entrants import REFERENCE, Evaluation
from mattools_assets.tool_usage.executions import UNVERIFIED, Counted, make_executions
from mattools_assets.tool_usage.question_sets import PUBLISHED, Task
from mattools_assets.tool_usage.runs import packages
from mattools_assets.tool_usage.scores import exception_of, make_scores
from resources.outcomes import Status
from resources.sandbox.execution import failed
from resources.sandbox.pool import SandboxUnavailable
from resources.settings import Settings
from tests.mattools_assets.tool_usage.conftest import done, keep, own, right_answer, store_alone

Tasks = dict[tuple[str, str], Task]


def silent(_done: int, _total: int, _what: str) -> None:
    """Progress that nobody reads."""


def scored(
    folder: Path, answers: list[dict[str, Any]], tasks: Tasks, told: Counted = silent
) -> tuple[list[dict[str, Any]], Any]:
    with store_alone(folder) as runs:
        executions = make_executions(runs, packages(), answers, tasks, 2, silent).rows.to_pylist()
        made = make_scores(runs, answers, executions, tasks, 2, told)
    return made.rows.to_pylist(), made.remarks


@pytest.fixture
def answers(tasks: Tasks, settings: Settings) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = keyless_answers(Evaluation(REFERENCE, REFERENCE), tasks, settings).rows.to_pylist()
    return rows


def test_right_wrong_and_broken_answers(tmp_path: Path, answers: list[dict[str, Any]], tasks: Tasks) -> None:
    first, second, third = tasks.values()
    mutated = own(second).properties[0]
    keep(tmp_path, first, first.reference.source, first.reference.name, done(right_answer(first)))
    wrong = right_answer(second) | {mutated.name: mutated.mutant}
    keep(tmp_path, second, second.reference.source, second.reference.name, done(wrong))
    broken = done(None, Status.CODE_ERROR, "Traceback …\n  line\nnumpy.linalg.LinAlgError: Singular matrix\n")
    keep(tmp_path, third, third.reference.source, third.reference.name, broken)
    lines: list[str] = []
    rows, remarks = scored(tmp_path, answers, tasks, lambda _done, _total, last: lines.append(last))
    asked = len(own(second).properties)
    assert f"last {second.id}: {asked - 1} of {asked} properties" in lines
    assert [(row["question_id"], row["runnable"], row["n_properties"] - row["n_passed"]) for row in rows] == [
        (first.id, True, 0),
        (second.id, True, 1),
        (third.id, False, len(own(third).properties)),
    ]
    findings = {item["property"]: item["finding"] for item in rows[1]["findings"]}
    assert {name: finding for name, finding in findings.items() if finding != "passed"} == {mutated.name: "wrong_value"}
    assert (rows[2]["status"], rows[2]["exception"]) == ("code_error", "LinAlgError")
    assert {item["finding"] for item in rows[2]["findings"]} == {"missing"}
    assert remarks["coverage"] == 1.0
    assert "LinAlgError" in remarks["failures"]
    # The part-right answer is the most instructive one.
    assert remarks["answers"].startswith(f"**{second.id}**")
    line = next(line for line in remarks["answers"].splitlines() if line.startswith(f"| `{mutated.name}`"))
    assert f"| `{mutated.expected.value!r}` | `{mutated.mutant!r}` | wrong_value |" in line


def test_what_is_not_the_models_fault_has_no_score(tmp_path: Path, answers: list[dict[str, Any]], tasks: Tasks) -> None:
    first, second, third = tasks.values()
    answers[0] |= {"status": str(Status.PROVIDER_ERROR), "source": "", "error": "overloaded"}
    answers[1] |= {"status": str(Status.TRUNCATED), "source": "", "error": "the reply was cut"}
    missing = replace(own(third), question=replace(third.question, data_at_hand=False))
    tasks[third.question_set, third.id] = Task(third.question_set, missing)
    rows, remarks = scored(tmp_path, answers, tasks)
    assert [(row["status"], row["n_passed"], row["runnable"]) for row in rows] == [
        ("provider_error", None, None),
        ("truncated", 0, False),
        (UNVERIFIED, None, None),
    ]
    assert remarks["coverage"] == pytest.approx(1 / 3)
    assert first.id != second.id


def test_without_a_sandbox_there_is_one_line(tmp_path: Path, answers: list[dict[str, Any]], tasks: Tasks) -> None:
    with store_alone(tmp_path) as runs, pytest.raises(SandboxUnavailable, match="no sandbox in this test"):
        make_executions(runs, packages(), answers, tasks, 2, silent)


def test_sandbox_failures_are_tried_again(tmp_path: Path, tasks: Tasks) -> None:
    first = next(iter(tasks.values()))
    keep(tmp_path, first, first.reference.source, first.reference.name, failed(Status.SANDBOX_ERROR, "lost"))
    with store_alone(tmp_path) as runs, pytest.raises(SandboxUnavailable):
        runs.run(f"{first.reference.source}\n\nsubmit({first.reference.name}())\n", first.question.files)


@pytest.mark.parametrize(
    ("stderr", "name"),
    [
        ("Traceback\nKeyError: 'x'", "KeyError"),
        ("pymatgen.io.vasp.inputs.PotcarError: no POTCAR", "PotcarError"),
        ("AssertionError", "AssertionError"),
        ("a line without a class", None),
        ("", None),
        ("x" * 10_000 + ": y", "x" * 100),
    ],
)
def test_classes_of_exceptions(stderr: str, name: str | None) -> None:
    assert exception_of({"status": "code_error", "stderr": stderr}) == name
    assert exception_of({"status": "ok", "stderr": stderr}) is None


def test_paper_mode_knows_no_function_that_its_harness_would_not_find(tmp_path: Path, settings: Settings) -> None:
    """No sandbox is asked: in corrected mode None alone is no answer either, but for another reason."""
    question = Question("test_it", "topic", "What?", ("p", "q"))
    verification = "def test_it(properties):\n    expected_properties = {}\n    errors = []\n    return 'ok'\n"
    task = Task(PUBLISHED, PublishedQuestion(question, verification))
    source = "def f():\n    return {'p': None}\n"
    keep(tmp_path, task, source, "f", done({"p": None}))
    tasks = {(PUBLISHED, "test_it"): task}
    (answer,) = keyless_answers(Evaluation(REFERENCE, REFERENCE), tasks, settings).rows.to_pylist()
    rows, _ = scored(tmp_path, [answer | {"source": source, "function_name": "f", "as_published": False}], tasks)
    assert [(row["mode"], row["runnable"], row["n_passed"]) for row in rows] == [
        ("paper", False, 0),
        ("corrected", False, 0),
    ]
    assert {item["detail"] for item in rows[0]["findings"]} == {"the published harness finds no function in the reply"}
    assert {item["finding"] for item in rows[1]["findings"]} == {"none"}
