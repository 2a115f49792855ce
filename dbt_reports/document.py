"""Bring the list of tables in `docs/tables.md` up to date: `python -m dbt_reports.document`.

Names, types and descriptions come from `reports.duckdb` itself, into which dbt writes what its YAML files say.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from dbt_reports.project import PROJECT
from resources.arguments import take_none
from resources.settings import read_settings

DOCUMENT = PROJECT.parent / "docs" / "tables.md"
MARKER = "<!-- From here on written by `python -m dbt_reports.document`. -->"


def table_list(connection: duckdb.DuckDBPyConnection) -> str:
    """Every table with its columns as Markdown, in the order in which one reads them."""
    tables = connection.execute(
        "select table_name, comment from duckdb_tables() where not internal"
        " order by table_name <> 'cme_leaderboard', table_name"
    ).fetchall()
    return "\n".join(_table(connection, name, comment) for name, comment in tables)


def with_list(text: str, tables: str) -> str:
    """`text` with everything after the marker replaced. Raises ValueError when it has no marker."""
    before, marker, _ = text.partition(MARKER)
    if not marker:
        raise ValueError(f"{DOCUMENT}: the line {MARKER!r} is missing; put it where the list of tables begins")
    return f"{before}{marker}\n\n{tables}"


def _table(connection: duckdb.DuckDBPyConnection, name: str, comment: str) -> str:
    columns = connection.execute(
        "select column_name, data_type, comment from duckdb_columns() where table_name = ? order by column_index",
        [name],
    ).fetchall()
    rows = (f"| `{column}` | {kind.lower()} | {_cell(text)} |" for column, kind, text in columns)
    return "\n".join([f"### {name}\n", f"{comment}\n", "| column | type | meaning |", "|---|---|---|", *rows, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(document: Path = DOCUMENT) -> None:
    """Rewrite the document from the reports as they are."""
    with duckdb.connect(read_settings().reports_database, read_only=True) as connection:
        tables = table_list(connection)
    document.write_text(with_list(document.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    take_none("dbt_reports.document", __doc__)
    main()
