"""The checks notice what they are there for: each test breaks one thing in a good lake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cme_assets import invariants, schemas
from resources.lake import Lake, LakeTable
from resources.settings import Settings

KEY = {"category": "B1"}
Rows = list[dict[str, Any]]


@pytest.fixture
def lake(made: Settings) -> Lake:
    return Lake(made.lake)


def spoil(lake: Lake, table: LakeTable, key: dict[str, str], change: Callable[[Rows], None]) -> None:
    """Write the partition again with a change."""
    rows = lake.read(table, key).to_pylist()
    change(rows)
    lake.write(table, key, table.rows(rows), {})


def test_physics_holds() -> None:
    assert invariants.broken_physics() == []


def test_a_good_lake_has_nothing_broken(lake: Lake) -> None:
    assert invariants.broken_spectra(lake) == []
    assert invariants.broken_noise(lake) == []
    assert invariants.broken_tables(lake) == []
    assert invariants.scores_out_of_range(lake, schemas.DIRECT_SCORES) == []


def test_a_negative_map_is_noticed(lake: Lake) -> None:
    def change(rows: Rows) -> None:
        rows[1]["intensity"][7] = -1.0

    spoil(lake, schemas.SPECTRA, KEY, change)
    assert invariants.broken_spectra(lake) == ["B1: a map is negative, empty or not finite"]


def test_levels_with_other_draws_are_noticed(lake: Lake) -> None:
    def change(rows: Rows) -> None:
        rows[-1]["truth"][0] += 1e-6

    spoil(lake, schemas.PROBLEMS, KEY, change)
    assert invariants.broken_spectra(lake) == ["B1: levels differ in more than noise and resolution"]


def test_noise_of_another_strength_is_noticed(lake: Lake) -> None:
    def change(rows: Rows) -> None:
        row = next(row for row in rows if row["level"] == 2 and row["draw"] == 1)
        row["intensity"][0] += 1.0

    spoil(lake, schemas.NOISY_SPECTRA, KEY, change)
    assert invariants.broken_noise(lake) == ["B1-L2, draw 1, 50 pixels: noise is not as declared"]


def test_a_table_that_is_not_the_map_is_noticed(lake: Lake) -> None:
    def change(rows: Rows) -> None:
        table = rows[4]["exhibits"][1]["table"]
        rows[4]["exhibits"][1]["table"] = table[:-1] + str((int(table[-1]) + 1) % 10)

    spoil(lake, schemas.PROMPTS, KEY, change)
    assert invariants.broken_tables(lake) == ["B1-L4, 50 pixels: a table does not read back to the map"]


def test_an_answer_beside_the_question_is_noticed(lake: Lake) -> None:
    def change(rows: Rows) -> None:
        rows[4]["exhibits"][3]["answer"] = [0.1]

    spoil(lake, schemas.PROMPTS, KEY, change)
    assert invariants.broken_tables(lake) == ["B1-L4: the question carries its answer, or an example lacks it"]


@pytest.mark.parametrize("score", [-0.01, 1.01, float("nan")])
def test_a_score_out_of_range_is_noticed(lake: Lake, score: float) -> None:
    def change(rows: Rows) -> None:
        rows[0]["score"] = score

    spoil(lake, schemas.DIRECT_SCORES, {"model": "argmax", **KEY}, change)
    (line,) = invariants.scores_out_of_range(lake, schemas.DIRECT_SCORES)
    assert line.startswith("argmax on B1-L0: score is ")
