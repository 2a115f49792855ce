"""What `make run` prints at its end: what was done, the leaderboard, where the page is."""

from __future__ import annotations

import duckdb
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from resources.carrying_out import Done
from resources.settings import Settings

WIDTH = 120
"""Columns of the table when nobody's terminal says how many there are."""

_LEADERBOARD = """
    select rank, evaluation, n_problems, coverage, score, ci_low, ci_high, score_min_level, score_max_level
    from cme_leaderboard order by resolution, variant, rank nulls last, score desc nulls last, evaluation
"""


def print_summary(settings: Settings, done: Done, *, reports_built: bool) -> None:
    """Print it all; names and numbers only, no reply."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    if done.runs == 0 and not done.refused and not reports_built:
        console.print("Everything is up to date, nothing was done again.")
    else:
        reports = "built" if reports_built else "up to date"
        console.print(f"Made {done.partitions} files of data, replies and scores; reports {reports}.")
    for failure in done.failed_checks:
        console.print(f"check failed: {failure}", markup=False)
    for finding in done.warnings:
        console.print(f"look at: {finding}", markup=False)
    for reason in dict.fromkeys(done.refused):
        console.print(f"not asked: {reason}", markup=False)
    if settings.reports_database.exists():
        console.print(_leaderboard(settings))
        console.print(f"Tables: {settings.reports_database}", markup=False, soft_wrap=True)
    if settings.page.exists():
        console.print(f"Page: {settings.page}", markup=False, soft_wrap=True)


def _leaderboard(settings: Settings) -> Table:
    with duckdb.connect(str(settings.reports_database), read_only=True) as database:
        rows = database.execute(_LEADERBOARD).fetchall()
    table = Table(
        title="CME-SpectrumBench",
        caption="ranks hold within one table size, for evaluations with a score for every problem",
    )
    table.add_column("rank", justify="right")
    table.add_column("evaluation", no_wrap=True)
    for name in ("problems", "coverage", "score", "95 % interval", "level 0", "level 4"):
        table.add_column(name, justify="right")
    for rank, evaluation, n_problems, coverage, score, low, high, least, most in rows:
        interval = "" if low is None else f"{low:.3f} to {high:.3f}"
        cells = [str(n_problems), f"{coverage:.0%}", _score(score), interval, _score(least), _score(most)]
        table.add_row("" if rank is None else str(rank), escape(evaluation), *cells)
    return table


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
