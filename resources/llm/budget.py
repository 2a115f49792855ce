"""Ceilings in dollars, per run, per day (UTC) and per model, that hold over all processes that share a ledger.

Before a request is claimed, the most it can cost is set against the ceiling together with what was spent and what all
open claims may still cost. A request that does not fit waits for open claims to cost less than their most; when
none is open, it ends as `budget_stopped`, without having been sent, and is asked again by the next run.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from resources.model_entry import ModelEntry


@dataclass(frozen=True, slots=True)
class Budget:
    """Ceilings of one run; None is no ceiling. `run` labels the run, across processes if they use one label.

    `model` is the endpoint and the provider's name of whom is asked; `model_usd` is what it may cost in all, ever.
    """

    run: str
    run_usd: float | None = None
    day_usd: float | None = None
    model: tuple[str, str] | None = None
    model_usd: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("run_usd", self.run_usd), ("day_usd", self.day_usd), ("model_usd", self.model_usd)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"budget {name}: {value} is no ceiling; use a number of US dollars, zero or more")

    @property
    def has_ceiling(self) -> bool:
        """True when any ceiling is set."""
        return any(usd is not None for usd in (self.run_usd, self.day_usd, self.model_usd))

    def asking(self, entry: ModelEntry) -> Budget:
        """The same for requests to `entry`, with its own ceiling."""
        return replace(self, model=(entry.endpoint, entry.model), model_usd=entry.ceiling_usd)

    def ceilings(self, now: float) -> dict[str, float]:
        """Scope to ceiling, in US dollars."""
        ceilings = dict(zip(self.scopes(now), (self.run_usd, self.day_usd, self.model_usd), strict=False))
        return {scope: usd for scope, usd in ceilings.items() if usd is not None}

    def scopes(self, now: float) -> list[str]:
        """Rows of the ledger's spending that a request counts in."""
        return [run_scope(self.run), day_scope(now), *([] if self.model is None else [model_scope(*self.model)])]


def new_run() -> str:
    """A label for a run that has none of its own."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f") + f"-{time.monotonic_ns() % 10**6:06d}"


def run_scope(run: str) -> str:
    """Name of a run's row in the ledger's spending."""
    return f"run {run}"[:200]


def model_scope(endpoint: str, model: str) -> str:
    """Name of a model's row in the ledger's spending."""
    return f"model {endpoint} {model}"[:200]


def day_scope(now: float) -> str:
    """Name of a day's row in the ledger's spending."""
    return f"day {datetime.fromtimestamp(now, UTC).date().isoformat()}"
