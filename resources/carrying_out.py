"""Runs of assets carried out in this process, and what came of them: the same for every part of every benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import dagster as dg


@dataclass
class Done:
    """What was carried out, which checks did not pass, what others point out, and what could not be done and why.

    `left_out` has a line for each thing that misses what only the user can bring.
    """

    runs: int = 0
    partitions: int = 0
    failed_checks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def carry_out(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    assets: Iterable[str],
    done: Done,
    *,
    tags: Mapping[str, str] | None = None,
    partition: str | None = None,
) -> None:
    """Run `assets`, on `partition` or the range that `tags` name, and add it to `done`. Raises what an asset does."""
    result = job.execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey(asset) for asset in assets],
        partition_key=partition,
        tags=dict(tags or {}),
        run_config={"loggers": {"console": {}}},
    )
    done.runs += 1
    done.partitions += sum(event.is_step_materialization for event in result.all_events)
    for check in result.get_asset_check_evaluations():
        if not check.passed:
            warns = check.severity is dg.AssetCheckSeverity.WARN
            (done.warnings if warns else done.failed_checks).append(_in_a_line(check))


def _in_a_line(check: dg.AssetCheckEvaluation) -> str:
    first, *others = (check.description or "").splitlines() or [""]
    more = f" (and {len(others)} more; see the check in `make ui`)" if others else ""
    return f"{check.asset_key.to_user_string()}: {check.check_name}: {first}{more}"
