"""The money that a run may spend. A run is a process: `make run` with all its parts, or a run that Dagster started."""

from __future__ import annotations

import logging
from decimal import Decimal
from functools import lru_cache

from resources.llm.budget import Budget, new_run
from resources.model_entry import ModelEntry
from resources.settings import Settings


def budget_of(settings: Settings) -> Budget:
    """The ceilings that are set, for this run."""
    return Budget(_this_run(), settings.budget_run_usd, settings.budget_day_usd)


def announce(entry: ModelEntry, budget: Budget, log: logging.Logger) -> None:
    """One line before anything is asked that costs money."""
    if entry.costs_nothing:
        return
    both = {"in this run": budget.run_usd, "today (UTC), all models together": budget.day_usd}
    known = " and ".join(f"{dollars(usd)} {where}" for where, usd in both.items() if usd is not None)
    limits = f"up to {known}" if known else "without a ceiling"
    log.info("%s: may spend money, %s; Ctrl-C stops it, and nothing answered is lost", entry.name, limits)


def dollars(usd: float) -> str:
    """A ceiling as it was set, to the cent at least: `$5.00`, `$0.002`."""
    return f"${usd:.2f}" if round(usd, 2) == usd else f"${Decimal(str(usd)):f}"


@lru_cache(maxsize=1)
def _this_run() -> str:
    return new_run()
