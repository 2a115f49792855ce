"""Only what changed is done again. The real functions run; they are counted on their way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from cme_assets import bring_up_to_date, definitions, schemas, solvers
from cme_assets.protocols import DIRECT
from cme_assets.stages import judging, maps, prompting
from cme_assets.tasks.catalogue import CATEGORIES
from resources.lake import Lake
from resources.settings import Settings
from tests.fast_graph import ENTRANTS, bring, fast_settings

PER_CATEGORY = {"simulated": 4, "noise": 20, "prompts": 5}
"""Four draws share one clean map between the levels; noise is five levels by four draws."""


class Calls(Counter[tuple[str, str]]):
    """Calls by what was done and for which category."""

    def of(self, what: str) -> dict[str, int]:
        """Calls of one kind by category."""
        return {category: count for (kind, category), count in self.items() if kind == what}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    counted = Calls()

    def count(what: str, function: Callable[..., Any], category: Callable[..., str]) -> Callable[..., Any]:
        def counting(*args: Any) -> Any:
            counted[what, category(*args)] += 1
            return function(*args)

        return counting

    of_sample, of_problem = (lambda sample, *_: sample.category.id), (lambda problem: problem.category_id)
    monkeypatch.setattr(maps, "clean_map", count("simulated", maps.clean_map, of_sample))
    monkeypatch.setattr(maps, "noise_map", count("noise", maps.noise_map, of_sample))
    monkeypatch.setattr(prompting, "render", count("prompts", prompting.render, of_problem))
    monkeypatch.setattr(judging, "read_strict", count("scored", judging.read_strict, lambda *_: "any"))
    for name, solver in solvers.ENTRANTS.items():
        monkeypatch.setitem(solvers.ENTRANTS, name, count(name, solver, of_problem))
    return counted


def written(settings: Settings) -> dict[str, int]:
    """Every file of the lake with its time of writing."""
    return {str(p.relative_to(settings.lake)): p.stat().st_mtime_ns for p in settings.lake.rglob("*.parquet")}


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {path for path in after if before.get(path) != after[path]}


def data_files(category: str) -> set[str]:
    tables = ("problems", "spectra", "noisy_spectra", "prompts")
    return {f"{table}/category={category}/data.parquet" for table in tables}


def evaluation_files(table: str, category: str, models: tuple[str, ...] = ENTRANTS) -> set[str]:
    return {f"{table}/model={model}/category={category}/data.parquet" for model in models}


def test_first_run_does_everything_once_and_a_second_nothing(
    tmp_path: Path, instance: dg.DagsterInstance, calls: Calls
) -> None:
    settings = fast_settings(tmp_path)
    done = bring(settings, instance)
    assert done.runs == 2
    assert done.partitions == 2 * 4 + 2 * 2 * len(ENTRANTS)
    assert done.failed_checks == done.warnings == []
    for what, count in PER_CATEGORY.items():
        assert calls.of(what) == {"A1": count, "B1": count}
    assert all(calls.of(name) == {"A1": 5, "B1": 5} for name in ENTRANTS)
    calls.clear()
    assert bring(settings, instance).runs == 0
    assert calls == {}


def test_raising_one_version_makes_that_category_anew_and_asks_nobody_the_same_question(
    made: Settings, instance: dg.DagsterInstance, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written(made)
    monkeypatch.setitem(CATEGORIES, "A1", replace(CATEGORIES["A1"], version=CATEGORIES["A1"].version + 1))
    bring(made, instance)
    for what, count in PER_CATEGORY.items():
        assert calls.of(what) == {"A1": count}
    assert not any(calls.of(name) for name in ENTRANTS)
    assert changed(before, written(made)) == data_files("A1") | evaluation_files("direct_scores", "A1")


def test_a_changed_question_is_asked_again(
    made: Settings, instance: dg.DagsterInstance, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written(made)
    monkeypatch.setitem(CATEGORIES, "A1", replace(CATEGORIES["A1"], question="Give the Fermi energy, once more."))
    bring(made, instance)
    assert all(calls.of(name) == {"A1": 5} for name in ENTRANTS)
    whole_chain = evaluation_files("direct_responses", "A1") | evaluation_files("direct_scores", "A1")
    assert changed(before, written(made)) == data_files("A1") | whole_chain


def test_a_new_model_runs_only_its_own_partitions(made: Settings, instance: dg.DagsterInstance, calls: Calls) -> None:
    before = written(made)
    fast_settings(made.models_file.parent, (*ENTRANTS, "example-position"))
    done = bring(made, instance)
    assert done.runs == 1
    assert calls.of("example-position") == {"A1": 5, "B1": 5}
    assert not any(calls.of(name) for name in (*ENTRANTS, *PER_CATEGORY))
    added = ("example-position",)
    new = {
        path
        for table in ("direct_responses", "direct_scores")
        for category in ("A1", "B1")
        for path in evaluation_files(table, category, added)
    }
    assert changed(before, written(made)) == new


def test_a_changed_gamma_scores_again_without_asking(
    made: Settings, instance: dg.DagsterInstance, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = scores(made)
    wider = replace(CATEGORIES["B1"], gamma=lambda _: 0.05, version=CATEGORIES["B1"].version + 1)
    monkeypatch.setitem(CATEGORIES, "B1", wider)
    bring(made, instance)
    assert not any(calls.of(name) for name in ENTRANTS)
    after = scores(made)
    assert all(after[key] == before[key] for key in before if key[1].startswith("A1"))
    assert all(after[key] > before[key] for key in before if key[1].startswith("B1"))


def test_a_new_scorer_scores_everything_again_and_asks_nobody(
    made: Settings, instance: dg.DagsterInstance, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written(made)
    rescored = replace(DIRECT, scores=replace(DIRECT.scores, code_version="next"))
    for module in (definitions, bring_up_to_date):
        monkeypatch.setattr(module, "PROTOCOLS", (rescored,))
    assert bring(made, instance).runs == 1
    assert set(calls) == {("scored", "any")}
    both = evaluation_files("direct_scores", "A1") | evaluation_files("direct_scores", "B1")
    assert changed(before, written(made)) == both


def test_another_table_size_keeps_the_replies_to_the_first(
    made: Settings, instance: dg.DagsterInstance, calls: Calls
) -> None:
    bring(replace(made, resolutions=(32,)), instance)
    assert all(calls.of(name) == {"A1": 5, "B1": 5} for name in ENTRANTS)
    assert {size for _, _, size in scores(made)} == {32, 50}
    calls.clear()
    assert bring(made, instance).runs == 0
    assert calls == {}


def test_a_model_taken_out_of_the_registry_keeps_its_results(made: Settings, instance: dg.DagsterInstance) -> None:
    fast_settings(made.models_file.parent, ENTRANTS[:1])
    assert bring(made, instance).runs == 0
    assert {model for model, _, _ in scores(made)} == set(ENTRANTS)


def test_a_deleted_file_and_only_that_is_made_again(made: Settings, instance: dg.DagsterInstance) -> None:
    before = written(made)
    lost = made.lake / "direct_responses/model=argmax/category=B1/data.parquet"
    lost.unlink()
    bring(made, instance)
    # The same replies give the same scores, but a run makes both.
    expected = {str(lost.relative_to(made.lake)), "direct_scores/model=argmax/category=B1/data.parquet"}
    assert changed(before, written(made)) == expected


def scores(settings: Settings) -> dict[tuple[str, str, int], float]:
    """Score by model, problem and resolution."""
    rows = Lake(settings.lake).read_all(schemas.DIRECT_SCORES, ["model", "problem_id", "resolution", "score"])
    return {(row["model"], row["problem_id"], row["resolution"]): row["score"] for row in rows.to_pylist()}
