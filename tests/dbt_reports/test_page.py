"""The page made from real reports: what it says, and that it needs nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pytest

from cme_assets.page.report import PageError, read_report
from cme_assets.page.write import render, write_page
from resources.settings import Settings, read_settings

LARGEST_PAGE = 6_000_000
"""Bytes; a page that mail programs and browsers still open at once."""


class Tables(HTMLParser):
    """Rows of cells by the id of the section they are in, and every tag's attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {}
        self.attributes: list[tuple[str, str, str]] = []
        self._section, self._in_cell = "", False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "section":
            self._section = dict(attrs)["id"] or ""
        elif tag == "tr":
            self.rows.setdefault(self._section, []).append([])
        elif tag in ("td", "th"):
            self.rows[self._section][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[self._section][-1][-1] += data.strip() and f"{data.strip()} "


@pytest.fixture(scope="module")
def page(settings: Settings, reports_database: Path) -> str:
    assert reports_database == settings.reports_database
    return write_page(settings).read_text(encoding="utf-8")


def test_leaderboard_says_what_the_table_says(page: str, reports: duckdb.DuckDBPyConnection) -> None:
    shown = [[cell.strip() for cell in row] for row in Tables(page).rows["leaderboard"] if len(row) == 11][1:]
    board = reports.execute(
        "select coalesce(rank::varchar, '–'), model,"
        " printf('%.3f', score) || coalesce(printf(' [%.3f, %.3f]', ci_low, ci_high), '')"
        " from cme_leaderboard order by resolution <> 100, resolution, variant, rank nulls last, score desc"
    ).fetchall()
    assert [(row[0], row[1], row[3].replace(" ]", "]")) for row in shown] == board
    by_model = {(row[1], row[2]): row for row in shown}
    assert by_model["partial", "direct"][6] == "10 of 190"
    assert by_model["org/repeated model", "direct × 3"][6:8] == ["190 of 190 (99.6 %)", "6"]
    assert by_model["reference-rowwise", "direct"][9] == "unknown"


def test_tiers_stand_in_their_columns(page: str, reports: duckdb.DuckDBPyConnection) -> None:
    (row,) = [row for row in Tables(page).rows["tiers"] if row[0].strip() == "partial"]
    scores = reports.execute(
        "select printf('%.3f', score) from cme_by_tier where model = 'partial' order by tier"
    ).fetchall()
    assert [cell.split()[0] for cell in row[1:]] == [score or "–" for (score,) in scores]
    assert row[3].strip() == "–"


def test_every_category_has_its_row(page: str, reports: duckdb.DuckDBPyConnection) -> None:
    rows = {row[0].split()[0]: row for row in Tables(page).rows["categories"] if len(row) > 2}
    for category, score in reports.execute(
        "select category, score from cme_by_category where evaluation = 'leader/react/100'"
    ).fetchall():
        assert f"{score:.2f}" in [cell.strip() for cell in rows[category]]


def test_whole_benchmark_is_not_called_a_part(page: str) -> None:
    assert "This is a part of the benchmark" not in page


def test_published_stand_beside(page: str) -> None:
    rows = {(row[0].strip(), row[1].strip()): [cell.strip() for cell in row] for row in Tables(page).rows["published"]}
    assert rows["graduate student baseline", "python fit"][-1] == "reference-rowwise/direct/100"
    assert rows["GPT-5.4", "direct"][-1] == "not measured"
    assert "arXiv:2610.24304" in page


def test_nothing_is_loaded_and_nothing_runs(page: str) -> None:
    assert len(page.encode()) < LARGEST_PAGE
    tags = {tag for tag, _, _ in Tables(page).attributes}
    assert not tags & {"script", "link", "iframe", "img", "object", "embed", "form", "base"}
    for tag, name, value in Tables(page).attributes:
        assert not name.startswith("on"), f"{tag} {name}"
        if name in ("href", "src", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"url\(|@import", page)


def test_links_within_the_page_lead_somewhere(page: str) -> None:
    attributes = Tables(page).attributes
    ids = {value for _, name, value in attributes if name == "id"}
    assert {value[1:] for _, name, value in attributes if name == "href" and value.startswith("#")} <= ids


def test_same_page_from_the_same_reports(settings: Settings, page: str) -> None:
    assert write_page(settings).read_text(encoding="utf-8") == page


def test_missing_reports(tmp_path: Path) -> None:
    with pytest.raises(PageError, match=r"reports\.duckdb: is missing; build it with"):
        write_page(read_settings({"CONDMAT_DATA": str(tmp_path)}))


def test_page_before_any_evaluation(tmp_path: Path, reports: duckdb.DuckDBPyConnection) -> None:
    database = tmp_path / "reports.duckdb"
    with duckdb.connect(database) as empty:
        for name, sql in reports.execute("select table_name, sql from duckdb_tables()").fetchall():
            empty.execute(sql)
            if name.startswith("published"):
                rows = reports.table(name).fetchall()
                empty.executemany(f"insert into {name} values ({', '.join('?' * len(rows[0]))})", rows)
    text = render(read_report(database), [])
    assert "Nothing has been evaluated yet" in text
    assert "No maps have been made yet" in text
    assert "This is a part of the benchmark: 0 of its 38 categories" in text
