"""The code location of the reports: dbt's tables as assets, built beside the database in use and swapped in."""

import importlib.metadata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, dbt_assets
from packaging.version import Version

from cme_assets.page.report import PageError, read_report
from cme_assets.page.write import write_page
from cme_assets.protocols import PROTOCOLS
from cme_assets.schemas import NOISY_SPECTRA, PROBLEMS, PROMPTS
from dbt_reports.lake_files import check_footers, check_pages, lake_files
from dbt_reports.project import (
    DBT,
    PROJECT,
    ReportsError,
    build_folder,
    dbt_variables,
    explaining_disk_errors,
    failure,
    forget_results,
    manifest,
)
from dbt_reports.swap import replacing
from resources.lake import LakeError
from resources.settings import Settings, read_settings

READ_BY_THE_PAGE = (
    *(PROBLEMS, NOISY_SPECTRA, PROMPTS),
    *(step.table for protocol in PROTOCOLS for step in (protocol.responses, protocol.scores)),
)
"""What the page shows beside the reports: pictures and transcripts."""


class OfflineDbt(DbtCliResource):
    """dbt by its command, without `dbt --version`, which asks PyPI for newer ones."""

    @property
    def _cli_version(self) -> Version:
        return Version(importlib.metadata.version("dbt-core"))


class Groups(DagsterDbtTranslator):
    """Puts published figures (dbt's seeds) and reports into a group each of the asset graph."""

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """The group of one table."""
        return "published" if dbt_resource_props["resource_type"] == "seed" else "reports"


def dbt_resource() -> OfflineDbt:
    """dbt as this location calls it."""
    return OfflineDbt(project_dir=str(PROJECT), dbt_executable=str(DBT))


def report_tables(settings: Settings) -> dg.AssetsDefinition:
    """Every table of `reports.duckdb` as an asset, its dbt tests as checks."""

    @dbt_assets(manifest=manifest(settings), name="reports", dagster_dbt_translator=Groups())
    def reports(context: dg.AssetExecutionContext, dbt: dg.ResourceParam[DbtCliResource]) -> Iterator[Any]:
        try:
            files = lake_files(settings.lake)
            check_footers(files)
            with (
                explaining_disk_errors(settings),
                replacing(settings.reports_database, start_from_present=context.is_subset) as database,
            ):
                events = _build(context, dbt, settings, database)
        except ReportsError as error:
            raise dg.Failure(str(error)) from None
        yield from events

    return reports


def _build(context: dg.AssetExecutionContext, dbt: DbtCliResource, settings: Settings, database: Path) -> list[Any]:
    """What dbt reports, held back until the new file is in use: a table that nobody can read is not materialized."""
    target = build_folder(settings)
    forget_results(target)
    arguments = ["build", *dbt_variables(settings, database)]
    invocation = dbt.cli(arguments, context=context, target_path=target, raise_on_error=False)
    events = list(invocation.stream())
    if invocation.process.wait() != 0:
        check_pages(lake_files(settings.lake))  # a broken file is the better explanation
        raise ReportsError(f"{failure(target)}; the whole log is {target / 'dbt.log'}")
    return events


def page_asset(settings: Settings, tables: dg.AssetsDefinition) -> dg.AssetsDefinition:
    """The leaderboard page, after every table."""

    @dg.asset(
        deps=[*tables.keys, *(dg.AssetKey(table.name) for table in READ_BY_THE_PAGE)],
        group_name="page",
        kinds={"html"},
        description="The leaderboard as one self-contained file.",
    )
    def leaderboard_page() -> dg.MaterializeResult[Any]:
        try:
            page = write_page(settings)
        except (PageError, LakeError) as error:
            raise dg.Failure(str(error)) from None
        size = page.stat().st_size
        return dg.MaterializeResult(
            metadata={"page": dg.MetadataValue.path(page), "bytes": size, "leaderboard": _board(settings)}
        )

    return leaderboard_page


def _board(settings: Settings) -> dg.MetadataValue:
    """The first rows of the leaderboard, as the UI shows tables."""
    shown = ("rank", "evaluation", "score", "ci_low", "ci_high", "coverage")
    rows = [{name: row[name] for name in shown} for row in read_report(settings.reports_database).leaderboard[:20]]
    records = [dg.TableRecord({name: "" if value is None else value for name, value in row.items()}) for row in rows]
    columns = [dg.TableColumn(name, "string" if name == "evaluation" else "float") for name in shown]
    return dg.MetadataValue.table(records, schema=dg.TableSchema(columns))


def build_defs(settings: Settings | None = None, *, page: bool = True) -> dg.Definitions:
    """The real graph of this code location, with or without the page."""
    settings = settings or read_settings()
    tables = report_tables(settings)
    return dg.Definitions(
        assets=[tables, *([page_asset(settings, tables)] if page else [])],
        resources={"dbt": dbt_resource()},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads."""
    return build_defs()
