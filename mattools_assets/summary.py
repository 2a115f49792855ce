"""What `make run-mattools` prints at its end: what was done, the tables, where they are."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.invariants import object_counts
from mattools_assets.source.specification import DEFAULT, parse_specification
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES
from resources.carrying_out import Done
from resources.lake import Lake
from resources.settings import Settings

WIDTH = 120
"""Columns of the tables when nobody's terminal says how many there are."""

_ACCURACY = """
    select
        model, origin, question_kind, sample, n_answered, coverage, accuracy_strict, accuracy_lenient, ci_low, ci_high
    from mattools_qa_accuracy order by origin, question_kind, sample, accuracy_lenient desc nulls last, model
"""
_TOOL_USAGE = """
    select evaluation, question_set, mode, coverage, runnable_rate, task_success_rate, ci_low, ci_high
    from mattools_tool_usage order by question_set, mode, task_success_rate desc nulls last, evaluation
"""
_WITHOUT_DATA = """
    select question_set, count(*) filter (not data_at_hand), count(*) from mattools_questions
    group by question_set having not bool_and(data_at_hand) order by question_set
"""
ABOUT_PYMATGEN = "are about pymatgen, whatever CONDMAT_TOOL_SOURCE names"


def print_summary(settings: Settings, parts: Sequence[Done], *, reports_built: bool) -> None:
    """Print it all; names and numbers only, no reply."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    runs, refused = sum(part.runs for part in parts), [line for part in parts for line in part.refused]
    if runs == 0 and not refused and not reports_built:
        console.print("Everything is up to date, nothing was done again.")
    else:
        reports = "built" if reports_built else "up to date"
        console.print(f"Made {sum(part.partitions for part in parts)} tables in {runs} runs; reports {reports}.")
    for failure in (line for part in parts for line in part.failed_checks):
        console.print(f"check failed: {failure}", markup=False)
    for finding in (line for part in parts for line in part.warnings):
        console.print(f"look at: {finding}", markup=False)
    for reason in dict.fromkeys(refused):
        console.print(f"not evaluated: {reason}", markup=False)
    console.print(_source(Lake(settings.lake)))
    if settings.reports_database.exists():
        with duckdb.connect(str(settings.reports_database), read_only=True) as database:
            elsewhere = parse_specification(settings.knowledge.source) != DEFAULT
            console.print(_accuracy(database, elsewhere))
            console.print(_tool_usage(database, elsewhere))
        console.print(f"Tables: {settings.reports_database}", markup=False, soft_wrap=True)
    console.print(f"Lake: {settings.lake}", markup=False, soft_wrap=True)


def _source(lake: Lake) -> Table:
    """The tool source by numbers, and who has documented it."""
    table = Table(title="Tool source")
    table.add_column("what", no_wrap=True)
    table.add_column("count", justify="right")
    counts = object_counts(lake) if lake.stored(CODE_OBJECTS, {}) else {}
    for name, count in counts.items():
        table.add_row(name, f"{count:,}")
    if lake.stored(REFERENCES, {}):
        table.add_row("references", f"{lake.read(REFERENCES, {}, ['line']).num_rows:,}")
    for key in lake.keys(LLM_DOCS):
        states = lake.read(LLM_DOCS, key, ["text"]).column("text").to_pylist()
        table.add_row(escape(f"documents by {key['doc_source']}"), f"{sum(map(bool, states)):,}")
    return table


def _accuracy(database: duckdb.DuckDBPyConnection, elsewhere: bool) -> Table:
    """`elsewhere` says that the tool source is another than the published one."""
    caption = f"questions by handwritten and published {ABOUT_PYMATGEN}" if elsewhere else None
    table = Table(title="MatTools, knowledge: mattools_qa_accuracy", caption=caption)
    for name in ("model", "questions by", "kind", "sample"):
        table.add_column(name, overflow="fold")
    for name in ("answered", "coverage", "strict", "lenient", "95 % interval"):
        table.add_column(name, justify="right")
    for model, origin, kind, sample, n, coverage, strict, lenient, low, high in database.execute(_ACCURACY).fetchall():
        names = [escape(model), escape(origin), kind, sample]
        table.add_row(*names, f"{n:,}", f"{coverage:.0%}", _rate(strict), _rate(lenient), _interval(low, high))
    return table


def _tool_usage(database: duckdb.DuckDBPyConnection, elsewhere: bool) -> Table:
    caption = ["reference: known right answers put through the verification, the ceiling and no solver"]
    caption += [
        f"{name}: {missing} of {total} questions lack their data files here, so coverage stays below 100%"
        for name, missing, total in database.execute(_WITHOUT_DATA).fetchall()
    ]
    caption += [f"own and published questions {ABOUT_PYMATGEN}"] if elsewhere else []
    table = Table(title="MatTools, tool usage: mattools_tool_usage", caption="\n".join(caption))
    for name in ("evaluation", "questions", "mode"):
        table.add_column(name, overflow="fold")
    for name in ("coverage", "runnable", "task success", "95 % interval"):
        table.add_column(name, justify="right")
    for evaluation, questions, mode, coverage, runnable, success, low, high in database.execute(_TOOL_USAGE).fetchall():
        row = [escape(evaluation), questions, mode, f"{coverage:.0%}", _rate(runnable), _rate(success)]
        table.add_row(*row, _interval(low, high))
    return table


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{low:.1%} to {high:.1%}"
