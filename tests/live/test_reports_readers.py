"""An analyst with an open session, while the reports are built ten times."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt_reports.build import build_reports
from dbt_reports.project import PROJECT
from resources.lake import Lake
from resources.settings import Settings, read_settings
from tests.random_lake import Evaluation, write_problems, write_scores

pytestmark = pytest.mark.live

BUILDS = 10
ANALYST = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
for line in sys.stdin:
    rows = connection.execute("select model from cme_leaderboard order by model").fetchall()
    rows += connection.execute("select count(*) from cme_scores").fetchall()
    print(rows, flush=True)
"""


class Analyst:
    """Another process with one read-only connection that stays open."""

    def __init__(self, database: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", ANALYST, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def sees(self) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def leave(self) -> None:
        self._process.communicate()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path)})
    write_problems(Lake(str(settings.lake)), ("A1", "B1"))
    add_model(settings, 0)
    return settings


def add_model(settings: Settings, number: int) -> None:
    write_scores(Lake(str(settings.lake)), Evaluation(f"model {number:02d}"), categories=("A1", "B1"))


@pytest.fixture
def analysts() -> Iterator[list[Analyst]]:
    there: list[Analyst] = []
    yield there
    for analyst in there:
        analyst.leave()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_builds_beside_open_readers(settings: Settings, analysts: list[Analyst]) -> None:
    """Nobody waits, nobody fails: who came before a build keeps the old rows, who comes after it sees the new ones."""
    build_reports(settings)
    expected = []
    for build in range(1, BUILDS + 1):
        analysts.append(Analyst(settings.reports_database))
        expected.append(f"[{', '.join(f'({chr(39)}model {n:02d}{chr(39)},)' for n in range(build))}, ({10 * build},)]")
        assert analysts[-1].sees() == expected[-1]
        add_model(settings, build)
        assert build_reports(settings).changed
        assert [analyst.sees() for analyst in analysts] == expected


def shared(name: str) -> Path:
    """A folder of the figures that were handed to this project, where they are at hand."""
    folder = PROJECT.parent.parent / "shared" / name
    if not folder.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{folder} is missing")
        pytest.skip(f"{folder} is not there")
    return folder


def test_published_counts_of_questions_are_as_published() -> None:
    given = list(csv.DictReader((shared("mattools") / "published_qa_accuracy.csv").open()))
    rows = csv.DictReader((PROJECT / "seeds" / "published_qa_accuracy.csv").open())
    seeded = {(row["published_model"], row["question_kind"]): (row["n_correct"], row["n_questions"]) for row in rows}
    for row in given:
        assert seeded.pop((row["model"], "code")) == (row["code_correct_of_34621"], "34621")
        assert seeded.pop((row["model"], "doc")) == (row["doc_correct_of_34604"], "34604")
    # Known as percentages only, of a part of the questions.
    assert seeded == {("ChemLLM-7B-Chat-1_5-DPO", kind): ("", n) for kind, n in (("code", "6705"), ("doc", "32006"))}


def test_published_figures_are_as_published() -> None:
    """The seeds against the figures that were handed to this project."""
    folder = shared("cme")
    given = list(csv.DictReader((folder / "published_results.csv").open()))
    ours = list(csv.DictReader((PROJECT / "seeds" / "published_results.csv").open()))
    assert [{name: row[name] for name in given[0]} for row in ours] == given
    tiers = {row["tier"]: row for row in csv.DictReader((folder / "published_tiers_gemini-3.1-pro.csv").open())}
    seeded = list(csv.DictReader((PROJECT / "seeds" / "published_tiers.csv").open()))
    assert len(seeded) == 2 * len(tiers)
    for row in seeded:
        column = {"direct": "direct", "code+react": "react"}[row["protocol"]]
        assert row["score"] == tiers[("I", "II", "III")[int(row["tier"]) - 1]][column]
