"""Tool usage through Dagster in the real sandbox: killed and resumed, right and wrong answers, what the UI shows."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
import yaml

from dbt_reports.build import build_reports
from mattools_assets.questions.answering import ENVIRONMENT
from mattools_assets.questions.mutants import near_miss
from mattools_assets.questions.own import own_questions
from mattools_assets.systems.replies import Function
from mattools_assets.tool_usage.entrants import REFERENCE, Evaluation
from mattools_assets.tool_usage.question_sets import all_tasks
from mattools_assets.tool_usage.shown import shown_answers
from mattools_assets.tool_usage.tables import TOOL_ANSWERS, TOOL_EXECUTIONS, TOOL_SCORES
from mattools_assets.tools_up_to_date import bring_tools_up_to_date
from resources.carrying_out import Done
from resources.lake import Lake
from resources.sandbox import environments, selection
from resources.sandbox.kept import FILE_NAME
from resources.settings import Settings, read_settings
from tests.mattools_assets.systems.performing import replied
from tests.servers.scripted import ScriptedServer, Turn, running

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1800)]

REFERENCES = Evaluation(REFERENCE, REFERENCE)
COMMAND = """
import dagster as dg
from mattools_assets.tool_usage.entrants import REFERENCE, Evaluation
from mattools_assets.tools_up_to_date import bring_tools_up_to_date
from resources.settings import read_settings
with dg.DagsterInstance.ephemeral() as instance:
    bring_tools_up_to_date(read_settings(), [Evaluation(REFERENCE, REFERENCE)], instance)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("tools")
    (folder / "data").mkdir()
    here = read_settings()
    if (here.data / "environments").is_dir():
        (folder / "data" / "environments").symlink_to(here.data / "environments")
    problems = [
        selection.problem_with(name, environments.environment(ENVIRONMENT), here) for name in selection.STRONGEST_FIRST
    ]
    if all(problems):
        if os.environ.get("CI") == "true":
            pytest.fail(str(problems))
        pytest.skip(str(problems))
    (folder / "models.yaml").write_text("models: []")
    own = {"CONDMAT_DATA": str(folder / "data"), "CONDMAT_MODELS": str(folder / "models.yaml")}
    return {**os.environ, **own, "CONDMAT_MATTOOLS": "", "CONDMAT_LEDGER_URL": ""}


@pytest.fixture(scope="module")
def settings(environment: dict[str, str]) -> Settings:
    return read_settings(environment)


def bring(settings: Settings, *evaluations: Evaluation) -> Done:
    with dg.DagsterInstance.ephemeral() as instance:
        return bring_tools_up_to_date(settings, evaluations, instance)


def kept(settings: Settings) -> dict[str, bytes]:
    if not (settings.data / FILE_NAME).exists():
        return {}
    with sqlite3.connect(f"file:{settings.data / FILE_NAME}?mode=ro", uri=True) as database:
        made = database.execute("select 1 from sqlite_master where name = 'done'").fetchone()
        return dict(database.execute("select key, outcome from done")) if made else {}


@pytest.fixture(scope="module")
def resumed(settings: Settings, environment: dict[str, str]) -> dict[str, bytes]:
    """The reference answers, evaluated by a process that was killed and by one that went on; gives what was kept."""
    process = subprocess.Popen([sys.executable, "-c", COMMAND], env=environment, cwd=Path(__file__).parents[2])
    try:
        while process.poll() is None and len(kept(settings)) < 8:
            time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    before = kept(settings)
    assert Lake(settings.lake).stored(TOOL_EXECUTIONS, REFERENCES.key) is None
    done = bring(settings, REFERENCES)
    assert done.failed_checks == done.refused == []
    return before


def test_a_killed_run_goes_on(settings: Settings, resumed: dict[str, bytes]) -> None:
    after = kept(settings)
    assert 8 <= len(resumed) < len(own_questions())
    assert {key: after[key] for key in resumed} == resumed
    assert len(after) == len(own_questions())
    again = bring(settings, REFERENCES)
    assert (again.runs, again.partitions) == (0, 0)


@pytest.mark.usefixtures("resumed")
def test_reference_answers_are_all_right(settings: Settings) -> None:
    rows = Lake(settings.lake).read(TOOL_SCORES, REFERENCES.key).to_pylist()
    assert {row["mode"] for row in rows} == {"corrected"}
    assert (len(rows), sum(row["n_passed"] for row in rows)) == (60, 204)
    assert all(row["runnable"] and row["n_passed"] == row["n_properties"] for row in rows)


@pytest.mark.usefixtures("resumed")
def test_a_models_answers_are_scored_as_they_deserve(settings: Settings) -> None:
    """Right functions as the reference has them, but for a near miss, an exception, silence and a cheat."""
    missing, raising, silent, cheating, *right = own_questions()
    spoiled = near_miss(Function(missing.solution, missing.function_name), missing.properties[0])
    names = list(cheating.question.properties)
    cheat = f"def cheat():\n    from unittest.mock import ANY\n    return dict.fromkeys({names}, ANY)\n"
    replies = {
        missing.question.id: replied(spoiled.source, spoiled.name),
        raising.question.id: replied("def f():\n    raise LookupError('no ``` fence <b>here</b>')\n", "f"),
        silent.question.id: "I do not know.",
        cheating.question.id: replied(cheat, "cheat"),
        **{own.question.id: replied(own.solution, own.function_name) for own in right},
    }
    plays = {own.question.text: [Turn(replies[own.question.id])] for own in own_questions()}
    evaluation = Evaluation("writer", "single")
    with running(ScriptedServer(plays)) as address:
        entry = {"name": "writer", "provider": "openai_compatible", "model": "writer", "base_url": address}
        models = [entry | {"free": True, "protocols": ["tools"]}]
        settings.models_file.write_text(yaml.safe_dump({"models": models}))
        done = bring(settings, evaluation)
    assert done.refused == []
    rows = {row["question_id"]: row for row in Lake(settings.lake).read(TOOL_SCORES, evaluation.key).to_pylist()}

    def said(question_id: str) -> tuple[Any, ...]:
        row = rows[question_id]
        return row["status"], row["runnable"], row["n_properties"] - row["n_passed"], row["exception"]

    assert said(missing.question.id) == ("ok", True, 1, None)
    assert said(raising.question.id) == ("code_error", False, len(raising.properties), "LookupError")
    assert said(silent.question.id) == ("no_code", False, len(silent.properties), None)
    assert said(cheating.question.id) == ("ok", True, len(cheating.properties), None)
    assert {said(own.question.id) for own in right} == {("ok", True, 0, None)}
    lost = 1 + sum(len(own.properties) for own in (raising, silent, cheating))
    with duckdb.connect(build_reports(settings).database, read_only=True) as reports:
        names = "evaluation, coverage, runnable_rate, task_success_rate"
        found = reports.execute(f"select {names} from mattools_tool_usage order by evaluation").fetchall()
    assert found == [
        ("reference/reference", 1.0, 1.0, 1.0),
        ("writer/single", 1.0, pytest.approx(58 / 60), pytest.approx((204 - lost) / 204)),
    ]


@pytest.mark.usefixtures("resumed")
def test_the_ui_shows_code_and_what_was_expected(settings: Settings) -> None:
    lake, tasks = Lake(settings.lake), all_tasks(settings)
    evaluation = Evaluation("writer", "single")
    if lake.stored(TOOL_SCORES, evaluation.key) is None:
        pytest.skip("the test before did not come to its end")
    tables = [lake.read(table, evaluation.key).to_pylist() for table in (TOOL_ANSWERS, TOOL_EXECUTIONS, TOOL_SCORES)]
    shown = shown_answers(list(zip(*tables, strict=True)), tasks)
    assert len(shown) < 100_000
    assert "```python" in shown
    assert "# <- result" in shown
    assert "wrong_value" in shown
    assert "| property | expected | got | finding | |" in shown
