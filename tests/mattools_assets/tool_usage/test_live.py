"""A model behind a server of the test answers our own questions under a live system; nobody executes them here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from mattools_assets.tool_usage import live
from mattools_assets.tool_usage.entrants import Evaluation
from mattools_assets.tool_usage.evaluating import answers_of, identity_of
from mattools_assets.tool_usage.freshness import ANSWERS, answers_note, make_questions
from mattools_assets.tool_usage.question_sets import Task, ToolUsageError
from mattools_assets.tool_usage.tables import TOOL_ANSWERS, TOOL_QUESTIONS
from resources.lake import Lake
from resources.registry import Registry, load_registry
from resources.settings import Settings
from tests.mattools_assets.systems.performing import replied, small_library
from tests.mattools_assets.tool_usage.conftest import own
from tests.servers.scripted import ScriptedServer, Turn, running

Tasks = dict[tuple[str, str], Task]
SINGLE = Evaluation("small", "single")


def first_line(task: Task) -> str:
    return task.question.text.splitlines()[0]


@pytest.fixture
def server(tasks: Tasks) -> Iterator[tuple[ScriptedServer, str]]:
    """Right functions for all but the last question, which gets an apology."""
    *known, unknown = tasks.values()
    plays = {first_line(task): [Turn(replied(task.reference.source, task.reference.name))] for task in known}
    scripted = ScriptedServer({**plays, first_line(unknown): [Turn("I am sorry.")]})
    with running(scripted) as address:
        yield scripted, address


def registry_with(folder: Path, address: str, **more: Any) -> Registry:
    entry = {"name": "small", "provider": "openai_compatible", "model": "small", "base_url": address, "free": True}
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump({"models": [entry | {"protocols": ["tools"]} | more]}))
    return load_registry(path)


def ask(lake: Lake, settings: Settings, registry: Registry, tasks: Tasks) -> list[dict[str, Any]]:
    """As the asset does it: the rows, kept in the lake."""
    lake.write(TOOL_QUESTIONS, {}, make_questions(tasks).rows, {})
    made = answers_of(SINGLE, lake, settings, registry, tasks, lambda *_: None)
    rows: list[dict[str, Any]] = made.rows.to_pylist()
    note = answers_note(identity_of(SINGLE, lake, settings, registry, tasks), rows)
    lake.write(TOOL_ANSWERS, SINGLE.key, made.rows, ANSWERS.provenance(lake, SINGLE.key, **note) or {})
    return rows


def test_what_is_answered_is_not_asked_again(
    tmp_path: Path, settings: Settings, tasks: Tasks, server: tuple[ScriptedServer, str]
) -> None:
    scripted, address = server
    lake, registry = Lake(settings.lake), registry_with(tmp_path, address)
    rows = ask(lake, settings, registry, tasks)
    *known, unknown = tasks.values()
    assert [row["question_id"] for row in rows] == [task.id for task in tasks.values()]
    assert [row["status"] for row in rows] == ["ok"] * len(known) + ["no_code"]
    assert [row["source"].strip() for row in rows[:-1]] == [task.reference.source.strip() for task in known]
    assert [row["requests"] for row in rows] == [1, 1, 1]
    assert {row["asked"][0]["step"] for row in rows} == {rows[0]["asked"][0]["step"]}
    assert rows[0]["prompt_tokens"] == 100
    assert len(scripted.bodies) == len(tasks)
    assert ask(lake, settings, registry, tasks) == rows
    assert len(scripted.bodies) == len(tasks)
    # A changed question alone is asked again.
    text = unknown.question.text.replace(first_line(unknown), f"{first_line(unknown)} Please.")
    changed = replace(own(unknown), question=replace(unknown.question, text=text))
    again = ask(lake, settings, registry, {**tasks, (unknown.question_set, unknown.id): Task("own", changed)})
    assert len(scripted.bodies) == len(tasks) + 1
    assert again[:-1] == rows[:-1]


def test_progress_says_how_answers_ended_and_what_they_took(
    tmp_path: Path,
    settings: Settings,
    tasks: Tasks,
    server: tuple[ScriptedServer, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONDMAT_BUDGET_DAY_USD", "none")
    prices = {"prices": [{"since": "2020-01-01", "input": 10, "output": 1e-6}]}
    registry = registry_with(tmp_path, server[1], free=False, **prices)
    lines: list[tuple[int, int, str]] = []
    allowed = replace(settings, budget_day_usd=None)

    def told(*line: Any) -> None:
        lines.append(line)

    rows = answers_of(SINGLE, Lake(settings.lake), allowed, registry, tasks, told).rows.to_pylist()
    assert [line[:2] for line in lines] == [(1, 3), (2, 3), (3, 3)]
    # Three prompts of 100 tokens at 10 dollars a million; what is received costs next to nothing.
    received = sum(row["completion_tokens"] for row in rows)
    assert lines[-1][2] == (f"1 no_code, 2 ok; requests: 3 done (0 from the ledger), 300 + {received} tokens, $0.0030")


def test_other_parameters_are_another_entrant(
    tmp_path: Path, settings: Settings, tasks: Tasks, server: tuple[ScriptedServer, str]
) -> None:
    scripted, address = server
    lake = Lake(settings.lake)
    ask(lake, settings, registry_with(tmp_path, address), tasks)
    warmer = registry_with(tmp_path, address, parameters={"temperature": 0.7})
    rows = ask(lake, settings, warmer, tasks)
    assert len(rows) == len(tasks)
    assert len(scripted.bodies) == 2 * len(tasks)


def test_repetitions_are_asked(
    tmp_path: Path, settings: Settings, tasks: Tasks, server: tuple[ScriptedServer, str]
) -> None:
    scripted, address = server
    lake = Lake(settings.lake)
    ask(lake, settings, registry_with(tmp_path, address), tasks)
    rows = ask(lake, settings, registry_with(tmp_path, address, repeats=3), tasks)
    assert sorted({row["repeat"] for row in rows}) == [0, 1, 2]
    assert len(scripted.bodies) == 3 * len(tasks)


def test_a_fault_of_whatever_kind_is_one_line_of_its_evaluation(
    tmp_path: Path, settings: Settings, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaking(*_: object) -> None:
        raise RuntimeError("nobody foresaw\nthis")

    monkeypatch.setattr(live, "answer_question", breaking)
    registry = registry_with(tmp_path, "http://127.0.0.1:9/v1")
    with pytest.raises(ToolUsageError) as error:
        answers_of(SINGLE, Lake(settings.lake), settings, registry, tasks, lambda *_: None)
    assert str(error.value) == "small under single: RuntimeError: nobody foresaw this"


def test_what_cannot_be_asked_is_one_line(tmp_path: Path, settings: Settings, tasks: Tasks) -> None:
    lake = Lake(settings.lake)
    registry = registry_with(tmp_path, "http://127.0.0.1:9/v1", key_env="NO_SUCH_KEY")

    def refused(system: str) -> str:
        with pytest.raises(ToolUsageError) as error:
            answers_of(Evaluation("small", system), lake, settings, registry, tasks, lambda *_: None)
        assert "\n" not in str(error.value)
        return str(error.value)

    assert "NO_SUCH_KEY is not set" in refused("single")
    registry = registry_with(tmp_path, "http://127.0.0.1:9/v1", probe=True)
    assert "Connect call failed" in refused("single")
    registry = registry_with(tmp_path, "http://127.0.0.1:9/v1")
    assert "materialize retrieval_chunks" in refused("rag-1")


def test_answers_say_who_wrote_the_documents_and_whose_vectors_found_them(
    tmp_path: Path, settings: Settings, tasks: Tasks, server: tuple[ScriptedServer, str]
) -> None:
    lake, registry = small_library(settings.data), registry_with(tmp_path, server[1])
    words = replace(settings, embedder="bm25")
    for system, found in (("rag-4", ("docstrings", "bm25")), ("rag-1", ("code", "bm25")), ("single", (None, None))):
        evaluation = Evaluation("small", system)
        rows = answers_of(evaluation, lake, words, registry, tasks, lambda *_: None).rows.to_pylist()
        assert {row["status"] for row in rows} == {"ok", "no_code"}
        assert {(row["documents"], row["embedder"]) for row in rows} == {found}
        lake.write(TOOL_ANSWERS, evaluation.key, TOOL_ANSWERS.rows(rows), {})


@pytest.mark.parametrize(
    ("model", "system", "words"),
    [
        ("small", "reference", "no model's"),
        ("small", "recorded", "nothing of it is recorded"),
        ("small", "rag-1", "leaves this system out"),
        ("other", "single", "not the protocol tools"),
        ("reference", "single", "not in models.yaml"),
    ],
)
def test_pairs_that_are_no_evaluation_have_no_answers(
    tmp_path: Path, settings: Settings, tasks: Tasks, model: str, system: str, words: str
) -> None:
    """Dagster's ranges over models and systems hold all pairs; these fail no run."""
    entry = {"name": "small", "provider": "openai_compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    models = [entry | {"protocols": ["tools"], "systems": ["single"]}, entry | {"name": "other", "protocols": ["qa"]}]
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    registry, pair = load_registry(tmp_path / "models.yaml"), Evaluation(model, system)
    made = answers_of(pair, Lake(settings.lake), settings, registry, tasks, lambda *_: None)
    assert made.rows.num_rows == 0
    assert words in str(made.remarks["no evaluation"])
    assert identity_of(pair, Lake(settings.lake), settings, registry, tasks) == ""
