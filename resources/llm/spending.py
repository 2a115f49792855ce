"""The money that a run may spend. A run is a process: `make run` with all its parts, or a run that Dagster started."""

from __future__ import annotations

from functools import lru_cache

from resources.llm.budget import Budget, new_run
from resources.settings import Settings


def budget_of(settings: Settings) -> Budget:
    """The ceilings that are set, for this run."""
    return Budget(_this_run(), settings.budget_run_usd, settings.budget_day_usd)


@lru_cache(maxsize=1)
def _this_run() -> str:
    return new_run()
