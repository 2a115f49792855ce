"""What the page says, read from the tables of `reports.duckdb`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

Row = dict[str, Any]

PUBLISHED_RESOLUTION = 100
"""Side of the tables that the published results are for; shown first wherever it has been evaluated."""
TIERS = (1, 2, 3)


class PageError(Exception):
    """A page that cannot be written; the message is one line with the file and the mend."""


@dataclass(frozen=True)
class Report:
    """Rows of the tables by name of the column; those of `levels`, `tiers` and `categories` by evaluation.

    `resolution` is the one that charts and cuts are for, `shown` its evaluations in the leaderboard's order.
    """

    leaderboard: list[Row]
    resolution: int
    shown: list[Row]
    levels: dict[str, list[Row]]
    tiers: dict[str, list[Row]]
    categories: dict[str, list[Row]]
    outcomes: dict[str, list[Row]]
    sizes: list[list[Row]]
    published: list[Row]
    published_tiers: list[Row]
    problems: list[Row]

    @property
    def benchmark(self) -> list[Row]:
        """The problems that totals are over: those of the published categories."""
        return [row for row in self.problems if row["published"]]


def read_report(database: Path) -> Report:
    """The report in `database`. Raises PageError with the mend when there is none."""
    if not database.exists():
        raise PageError(f"{database}: is missing; build it with `python -m dbt_reports.build`")
    try:
        with duckdb.connect(database, read_only=True) as connection:
            return _read(connection)
    except duckdb.Error as error:
        line = " ".join(str(error).split())
        raise PageError(f"{database}: cannot be read ({line}); build it anew with --force") from None


def _read(connection: duckdb.DuckDBPyConnection) -> Report:
    leaderboard = _rows(connection, "from cme_leaderboard")
    resolution = _resolution(leaderboard)
    return Report(
        leaderboard=sorted(leaderboard, key=lambda row: row["resolution"] != resolution),
        resolution=resolution,
        shown=[row for row in leaderboard if row["resolution"] == resolution],
        levels=_by_evaluation(_rows(connection, "from cme_by_level order by level")),
        tiers=_by_evaluation(_rows(connection, "from cme_by_tier order by tier")),
        categories=_by_evaluation(_rows(connection, "from cme_by_category")),
        outcomes=_by_evaluation(_rows(connection, "from cme_outcomes order by n_attempts desc, status")),
        sizes=_sizes(_rows(connection, "from cme_by_resolution order by model, protocol, variant, resolution")),
        published=_rows(connection, "from cme_vs_published"),
        published_tiers=_rows(connection, "from published_tiers order by model, protocol desc, tier"),
        problems=_rows(connection, "from cme_problems"),
    )


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _resolution(leaderboard: list[Row]) -> int:
    """The published resolution where there is any of it, or else the one with most evaluations."""
    counts = Counter(row["resolution"] for row in leaderboard)
    if not counts or PUBLISHED_RESOLUTION in counts:
        return PUBLISHED_RESOLUTION
    return max(counts, key=lambda resolution: (counts[resolution], resolution))


def _by_evaluation(rows: list[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row["evaluation"], []).append(row)
    return grouped


def _sizes(rows: list[Row]) -> list[list[Row]]:
    """The evaluations that differ in resolution only, where there are several."""
    grouped: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["model"], row["protocol"], row["variant"]), []).append(row)
    return [group for group in grouped.values() if len(group) > 1]
