"""What all assets of this location do with the results of a stage: store, describe, count."""

from collections.abc import Mapping

import dagster as dg

from cme_assets.freshness import Step
from cme_assets.stages.result import Made, Remarks
from resources.lake import Lake
from resources.settings import Settings
from resources.workers import Workers

GROUP = "cme_spectrumbench"

# Dagster reads annotations as objects, so modules with assets do without postponed evaluation.
Context = dg.AssetExecutionContext
InLake = dg.ResourceParam[Lake]
InSettings = dg.ResourceParam[Settings]
InWorkers = dg.ResourceParam[Workers]


def store(
    context: Context,
    lake: Lake,
    step: Step,
    partition: str,
    key: Mapping[str, str],
    made: Made,
    **note: str,
) -> None:
    """Write one partition's rows at once, so that an interruption loses only what is not finished."""
    lake.write(step.table, key, made.rows, step.provenance(lake, key, **note) or {})
    context.add_asset_metadata(entries({"rows": made.rows.num_rows, **made.remarks}), partition_key=partition)


def progress(context: Context, what: str, done: int, total: int) -> None:
    """One line for the log: the count."""
    context.log.info(f"{context.asset_key.to_user_string()}: {what}, {done} of {total}")


def entries(remarks: Remarks) -> dict[str, dg.MetadataValue]:
    """Remarks as Dagster shows them: text is Markdown, numbers feed the plots."""
    return {name: dg.MetadataValue.md(r) if isinstance(r, str) else _number(r) for name, r in remarks.items()}


def _number(value: float | int) -> dg.MetadataValue:
    return dg.MetadataValue.int(value) if isinstance(value, int) else dg.MetadataValue.float(value)
