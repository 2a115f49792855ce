"""What assets do with the results of a stage: store, describe, count."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import dagster as dg

from resources.console import SAID
from resources.freshness import Step
from resources.lake import Lake
from resources.settings import Settings
from resources.stage import Made, Remarks
from resources.workers import Workers

SECONDS_BETWEEN_LINES = 2.0

# Dagster reads annotations as objects, so modules with assets do without postponed evaluation.
Context = dg.AssetExecutionContext
InLake = dg.ResourceParam[Lake]
InSettings = dg.ResourceParam[Settings]
InWorkers = dg.ResourceParam[Workers]


def store(
    context: Context,
    lake: Lake,
    step: Step,
    partition: str | None,
    key: Mapping[str, str],
    made: Made,
    **note: str,
) -> None:
    """Write one partition's rows at once, so that an interruption loses only what is not finished.

    `partition` is Dagster's key, None for an asset without partitions.
    """
    lake.write(step.table, key, made.rows, step.provenance(lake, key, **note) or {})
    described = entries({"rows": made.rows.num_rows, **made.remarks})
    context.add_asset_metadata(described, asset_key=step.table.name, partition_key=partition)


class Progress:
    """Counts in the run's log, a line every few seconds and one at the end; `name` is what is made."""

    def __init__(self, context: Context, total: int, name: str | None = None) -> None:
        self._context, self._total, self._done, self._said = context, total, 0, 0.0
        self._name = name

    def finished(self, what: str) -> None:
        """One more partition is done."""
        self._done += 1
        if self._done == self._total or time.monotonic() - self._said > SECONDS_BETWEEN_LINES:
            asset = self._name or self._context.asset_key.to_user_string()
            self._context.log.info(f"{asset}: {self._done} of {self._total} done, last {what}")
            self._said = time.monotonic()


def counting(context: Context, name: str) -> Callable[[int, int, str], None]:
    """Told how many are done, of how many, and more in words: a line every few seconds and one at the end."""
    said = [time.monotonic()]

    def tell(done: int, total: int, more: str) -> None:
        if done == total or time.monotonic() - said[0] > SECONDS_BETWEEN_LINES:
            said[0] = time.monotonic()
            context.log.info(f"{name}: {done} of {total} done, {more}")

    return tell


@contextmanager
def logged(context: Context, package: str) -> Iterator[None]:
    """What `package` logs meanwhile, such as counts of replies, tokens and dollars, goes into the run's log too."""
    log, handler = logging.getLogger(package), _Forwarding(context)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


class _Forwarding(logging.Handler):
    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context

    def emit(self, record: logging.LogRecord) -> None:
        self._context.log.log(record.levelno, record.getMessage())
        setattr(record, SAID, True)


def entries(remarks: Remarks) -> dict[str, dg.MetadataValue]:
    """Remarks as Dagster shows them: text is Markdown, numbers feed the plots."""
    return {name: dg.MetadataValue.md(r) if isinstance(r, str) else _number(r) for name, r in remarks.items()}


def _number(value: float | int) -> dg.MetadataValue:
    return dg.MetadataValue.int(value) if isinstance(value, int) else dg.MetadataValue.float(value)
