"""What a run leaves unanswered: closing lines for a model's batch, for its budget and for what its provider failed at.

All are read from the lake, which has a status for everything that was to be asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from resources.lake import Lake, LakeTable
from resources.llm.batched import WAITS
from resources.llm.wording import counted
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.settings import Settings


def values_of(lake: Lake, tables: Iterable[LakeTable], entry: ModelEntry, column: str) -> list[str | None]:
    """A column of the entry's rows in `tables`, whose partitions are by model. Raises LakeError."""
    found = [(table, key) for table in tables for key in lake.keys(table) if key["model"] == entry.name]
    return [value for table, key in found for value in lake.read(table, key, [column]).column(column).to_pylist()]


def waiting_for_batches(lake: Lake, tables: Iterable[LakeTable], entries: Iterable[ModelEntry]) -> list[str]:
    """A line for each model some of whose questions are in a batch that the provider has not done. Raises LakeError."""
    tables, lines = tuple(tables), []
    for entry in entries:
        errors = values_of(lake, tables, entry, "error") if entry.batch else []
        if waiting := errors.count(WAITS):
            lines.append(
                f"{entry.name}: {waiting} of {len(errors)} questions wait for their batch, within a day; run again then"
            )
    return lines


def failed_at_provider(lake: Lake, tables: Iterable[LakeTable], entries: Iterable[ModelEntry]) -> list[str]:
    """A line for each model whose provider left questions without an answer: how many, and the reason given most
    often. Raises LakeError."""
    tables, lines = tuple(tables), []
    for entry in entries:
        statuses, errors = (values_of(lake, tables, entry, column) for column in ("status", "error"))
        failed = zip(statuses, errors, strict=True)
        reasons = Counter(error for status, error in failed if status == Status.PROVIDER_ERROR and error != WAITS)
        if reasons:
            why = reasons.most_common(1)[0][0] or "no reason given"
            lines.append(
                f"not answered: {entry.name}: {counted(reasons.total(), 'request')}; {why}; mend that and run again"
            )
    return lines


def stopped_by_budget(
    lake: Lake,
    tables: Iterable[LakeTable],
    entries: Iterable[ModelEntry],
    settings: Settings,
    more: Mapping[str, int] | None = None,
) -> list[str]:
    """A line for each model some of whose questions were not asked, because a ceiling was reached. Raises LakeError.

    `more` counts by model what other tables know.
    """
    tables, lines = tuple(tables), []
    for entry in entries:
        count = values_of(lake, tables, entry, "status").count(Status.BUDGET_STOPPED) + (more or {}).get(entry.name, 0)
        if count:
            mend = f"raise {_ceilings(entry, settings)} and run again"
            lines.append(f"not asked: {entry.name}: {counted(count, 'request')} (budget); {mend}")
    return lines


def _ceilings(entry: ModelEntry, settings: Settings) -> str:
    """The ceilings that hold for a model, by the names under which they are set."""
    ceilings = {
        "CONDMAT_BUDGET_RUN_USD": settings.budget_run_usd,
        "CONDMAT_BUDGET_DAY_USD": settings.budget_day_usd,
        f"the ceiling_usd of {entry.name}": entry.ceiling_usd,
    }
    return " or ".join(name for name, usd in ceilings.items() if usd is not None) or "CONDMAT_BUDGET_DAY_USD"
