"""The code location of the reports: dbt's tables as assets, built beside the database in use and swapped in."""

import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DbtCliResource, dbt_assets
from packaging.version import Version

from dbt_reports.lake_files import check_footers, check_pages, lake_files
from dbt_reports.project import PROJECT, ReportsError, dbt_variables, failure, manifest, work_folder
from dbt_reports.swap import replacing
from resources.settings import Settings, read_settings


class OfflineDbt(DbtCliResource):
    """dbt by its command, without `dbt --version`, which asks PyPI for newer ones."""

    @property
    def _cli_version(self) -> Version:
        return Version(importlib.metadata.version("dbt-core"))


def dbt_resource() -> OfflineDbt:
    """The dbt of this environment, whether or not the environment is activated."""
    return OfflineDbt(project_dir=str(PROJECT), dbt_executable=str(Path(sys.executable).with_name("dbt")))


def report_tables(settings: Settings) -> dg.AssetsDefinition:
    """Every table of `reports.duckdb` as an asset, its dbt tests as checks."""

    @dbt_assets(manifest=manifest(settings), name="reports")
    def reports(context: dg.AssetExecutionContext, dbt: dg.ResourceParam[DbtCliResource]) -> Iterator[Any]:
        try:
            files = lake_files(settings.lake)
            check_footers(files)
            with replacing(settings.reports_database, start_from_present=context.is_subset) as database:
                events = _build(context, dbt, settings, database)
        except ReportsError as error:
            raise dg.Failure(str(error)) from None
        yield from events

    return reports


def _build(context: dg.AssetExecutionContext, dbt: DbtCliResource, settings: Settings, database: Path) -> list[Any]:
    """What dbt reports, held back until the new file is in use: a table that nobody can read is not materialized."""
    target = work_folder(settings) / "runs" / context.run.run_id
    arguments = ["build", *dbt_variables(settings, database)]
    invocation = dbt.cli(arguments, context=context, target_path=target, raise_on_error=False)
    events = list(invocation.stream())
    if invocation.process.wait() != 0:
        check_pages(lake_files(settings.lake))  # a broken file is the better explanation
        raise ReportsError(f"{failure(target)}; the whole log is {target / 'dbt.log'}")
    return events


def build_defs(settings: Settings | None = None) -> dg.Definitions:
    """The real graph of this code location."""
    settings = settings or read_settings()
    return dg.Definitions(
        assets=[report_tables(settings)],
        resources={"dbt": dbt_resource()},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads."""
    return build_defs()
