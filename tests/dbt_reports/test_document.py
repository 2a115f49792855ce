"""docs/tables.md against the tables themselves."""

from __future__ import annotations

import re

import duckdb
import pytest

from dbt_reports.document import DOCUMENT, MARKER, table_list, with_list

QUERIES = re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_list_is_up_to_date(reports: duckdb.DuckDBPyConnection) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == with_list(text, table_list(reports)), "run `python -m dbt_reports.document`"


def test_every_column_is_listed(reports: duckdb.DuckDBPyConnection) -> None:
    listed = DOCUMENT.read_text(encoding="utf-8").split(MARKER)[1]
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", listed, flags=re.DOTALL | re.MULTILINE))
    tables = {name for (name,) in reports.execute("select table_name from duckdb_tables()").fetchall()}
    assert sections.keys() == tables
    for name, section in sections.items():
        assert re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE) == reports.table(name).columns


@pytest.mark.parametrize("query", QUERIES)
def test_examples_run(reports: duckdb.DuckDBPyConnection, query: str) -> None:
    assert reports.execute(query).fetchall()


def test_there_are_three() -> None:
    assert len(QUERIES) == 3


def test_first_example_agrees_with_the_board(reports: duckdb.DuckDBPyConnection) -> None:
    rows = reports.execute(QUERIES[0]).fetchall()
    scores = [
        s
        for (s,) in reports.execute(
            "select score from cme_leaderboard where resolution = 100 and variant = 'published' and coverage = 1"
            " order by score desc"
        ).fetchall()
    ]
    assert [row[0] for row in rows] == list(range(1, len(scores) + 1))
    for row, score, below in zip(rows, scores, [*scores[1:], None], strict=True):
        assert row[2] == pytest.approx(score, abs=6e-4)
        assert row[4] == (None if below is None else pytest.approx(score - below, abs=6e-4))
