"""Ceilings in dollars, per run and per day (UTC), that hold over all processes that share a ledger.

Before a request is claimed, the most it can cost is set against the ceiling together with what was spent and what all
open claims may still cost. A request that does not fit waits for open claims to cost less than their most; when
none is open, it ends as `budget_stopped`, without having been sent, and is asked again by the next run.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Budget:
    """Ceilings of one run; None is no ceiling. `run` labels the run, across processes if they use one label."""

    run: str
    run_usd: float | None = None
    day_usd: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("run_usd", self.run_usd), ("day_usd", self.day_usd)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"budget {name}: {value} is no ceiling; use a number of US dollars, zero or more")

    @property
    def has_ceiling(self) -> bool:
        """True when any ceiling is set."""
        return self.run_usd is not None or self.day_usd is not None

    def ceilings(self, now: float) -> dict[str, float]:
        """Scope to ceiling, in US dollars."""
        both = {run_scope(self.run): self.run_usd, day_scope(now): self.day_usd}
        return {scope: usd for scope, usd in both.items() if usd is not None}


def new_run() -> str:
    """A label for a run that has none of its own."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f") + f"-{time.monotonic_ns() % 10**6:06d}"


def run_scope(run: str) -> str:
    """Name of a run's row in the ledger's spending."""
    return f"run {run}"[:200]


def day_scope(now: float) -> str:
    """Name of a day's row in the ledger's spending."""
    return f"day {datetime.fromtimestamp(now, UTC).date().isoformat()}"
