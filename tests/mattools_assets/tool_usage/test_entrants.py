"""Who answers: names of recorded runs, evaluations, and what makes an answer another one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mattools_assets.questions.own import OwnQuestion
from mattools_assets.tool_usage.answers import keyless_answers
from mattools_assets.tool_usage.entrants import (
    LIVE_SYSTEMS,
    RECORDED,
    REFERENCE,
    Evaluation,
    keyless_evaluations,
    parts_of,
)
from mattools_assets.tool_usage.evaluating import evaluations
from mattools_assets.tool_usage.question_sets import PUBLISHED, Task, ToolUsageError, all_tasks
from resources.model_entry import ModelEntry
from resources.settings import SettingError, Settings, read_settings


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("self_reflection_source4__gpt-4o-2024-08-06__run1", ("gpt-4o-2024-08-06", "reflection-published-4", 0)),
        ("rag_source2__some__model__run3", ("some__model", "rag-2", 2)),
        ("single_llm__m__run1", ("m", "single", 0)),
        ("new_way__m__run2", ("m", "new_way", 1)),
        ("whatever", ("whatever", RECORDED, 0)),
    ],
)
def test_names_of_runs(name: str, parts: tuple[str, str, int]) -> None:
    assert parts_of(name) == parts


def question(name: str) -> dict[str, object]:
    body = "    expected_properties = {}\n    errors = []\n    return 'ok'\n"
    return {
        "question_id": name,
        "question": f"Do {name}.",
        "properties": {"p": {}, "q": {}},
        "verification_source": f"def {name}(properties):\n{body}",
    }


@pytest.fixture
def with_runs(tmp_path: Path) -> Settings:
    folder = tmp_path / "mattools"
    (folder / "recorded").mkdir(parents=True)
    lines = [json.dumps(question(name)) for name in ("test_a", "test_b")]
    (folder / "questions.jsonl").write_text("\n".join(lines))
    for number in (1, 2):
        answers = [
            {"question_id": "test_a", "function_name": "f", "function_source": f"def f(): return {number}"},
            {"question_id": "test_b", "function_name": "", "function_source": ""},
        ]
        path = folder / "recorded" / f"rag_source4__m__run{number}.jsonl"
        path.write_text("\n".join(map(json.dumps, answers)))
    return read_settings({"CONDMAT_DATA": str(tmp_path / "data"), "CONDMAT_MATTOOLS": str(folder)})


def test_recorded_runs_are_repetitions_of_one_evaluation(with_runs: Settings) -> None:
    evaluation = Evaluation("m", RECORDED)
    assert keyless_evaluations(with_runs) == [Evaluation(REFERENCE, REFERENCE), evaluation]
    rows = keyless_answers(evaluation, all_tasks(with_runs), with_runs).rows.to_pylist()
    names = ("question_set", "question_id", "repeat", "answered_as", "origin", "status", "cost_usd")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (PUBLISHED, "test_a", 0, "rag-4", "recorded", "ok", None),
        (PUBLISHED, "test_b", 0, "rag-4", "recorded", "no_code", None),
        (PUBLISHED, "test_a", 1, "rag-4", "recorded", "ok", None),
        (PUBLISHED, "test_b", 1, "rag-4", "recorded", "no_code", None),
    ]


def test_what_is_wrong_with_the_folder_is_one_line(with_runs: Settings, tmp_path: Path) -> None:
    folder = with_runs.mattools
    assert folder is not None
    (folder / "recorded" / "x.jsonl").write_text(json.dumps({"question_id": "test_c", "function_name": "f"}))
    with pytest.raises(ToolUsageError, match=r"x\.jsonl, line 1: function_source or function is missing"):
        keyless_evaluations(with_runs)
    (folder / "recorded" / "x.jsonl").write_text(
        json.dumps({"question_id": "test_c", "function_name": "f", "function_source": "def f(): pass"})
    )
    with pytest.raises(ToolUsageError, match="no question 'test_c'"):
        keyless_answers(Evaluation("x", RECORDED), all_tasks(with_runs), with_runs)
    (folder / "questions.jsonl").unlink()
    with pytest.raises(ToolUsageError, match="holds neither"):
        all_tasks(with_runs)
    with pytest.raises(SettingError, match="CONDMAT_MATTOOLS"):
        read_settings({"CONDMAT_MATTOOLS": str(tmp_path / "nowhere")})


def test_text_and_files_make_the_question_and_values_the_verification(tasks: dict[tuple[str, str], Task]) -> None:
    task = next(iter(tasks.values()))
    assert isinstance(task.verified, OwnQuestion)
    reworded = Task("own", replace(task.verified, question=replace(task.question, text="other")))
    refiled = Task("own", replace(task.verified, question=replace(task.question, files={"new.txt": b"1"})))
    first, *rest = task.verified.properties
    looser = replace(first, expected=replace(first.expected, tolerance=first.expected.tolerance + 1))
    rescored = Task("own", replace(task.verified, properties=(looser, *rest)))
    assert len({each.question_hash for each in (task, reworded, refiled)}) == 3
    assert rescored.question_hash == task.question_hash
    assert rescored.verification_hash != task.verification_hash


def test_an_entry_names_the_systems_that_it_answers_under(settings: Settings) -> None:
    named = {"name": "m", "provider": "openai_compatible", "model": "m", "base_url": "http://h/v1"}
    every = ModelEntry.model_validate(named | {"protocols": ["tools"]})
    two = ModelEntry.model_validate(named | {"protocols": ["tools"], "systems": ["single", "rag-4"]})
    none = ModelEntry.model_validate(named | {"protocols": ["qa"]})
    assert [each.system for each in evaluations(settings, [two])] == [REFERENCE, "single", "rag-4"]
    assert len(evaluations(settings, [every])) == 1 + len(LIVE_SYSTEMS)
    assert evaluations(settings, [none]) == [Evaluation(REFERENCE, REFERENCE)]
    wrong = two.model_copy(update={"systems": ("rag-5",)})
    with pytest.raises(ToolUsageError, match=r"model 'm', field systems: 'rag-5' is none"):
        evaluations(settings, [wrong])
