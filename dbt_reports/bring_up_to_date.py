"""The reports as the last part of a run: built through Dagster when the lake or the reports' own code changed."""

from __future__ import annotations

import contextlib
import io
import sys

import dagster as dg

from cme_assets.tasks.category import CategoryError
from dbt_reports.lake_files import fingerprint, lake_files
from dbt_reports.project import ReportsError, explaining_disk_errors, project_fingerprint
from resources.console import warnings_console
from resources.settings import Settings

_MADE_FROM = "reports_made_from"


class ReportsFailed(Exception):
    """Reports that could not be built; the message is one line."""


def bring_reports_up_to_date(settings: Settings, instance: dg.DagsterInstance) -> bool:
    """Build `reports.duckdb`, and the page where there are spectra, if need be; whether that was done.

    Raises ReportsFailed.
    """
    note = settings.dagster_home / _MADE_FROM
    identity = f"{project_fingerprint()} {fingerprint(lake_files(settings.lake))}"
    if _is_there(settings) and note.exists() and note.read_text() == identity:
        return False
    print("reports: building", file=sys.stderr, flush=True)
    try:
        with explaining_disk_errors(settings):
            _build(settings, instance)
            note.write_text(identity)
    except (ReportsError, CategoryError) as error:
        raise ReportsFailed(str(error)) from None
    except dg.Failure as failure:
        raise ReportsFailed(failure.description or "the reports could not be built") from None
    return True


def _build(settings: Settings, instance: dg.DagsterInstance) -> None:
    # Loading dbt takes seconds, which an idle run need not spend.
    from dbt_reports.definitions import build_defs

    quiet = dg.Definitions(loggers={"console": warnings_console})
    reports = build_defs(settings, page=_has_spectra(settings))
    job = dg.Definitions.merge(reports, quiet).resolve_implicit_global_asset_job_def()
    # dbt's lines on every table and test are in its own log, and what fails is said here.
    with contextlib.redirect_stdout(io.StringIO()):
        job.execute_in_process(instance=instance, run_config={"loggers": {"console": {}}})


def _is_there(settings: Settings) -> bool:
    return settings.reports_database.exists() and (settings.page.exists() or not _has_spectra(settings))


def _has_spectra(settings: Settings) -> bool:
    """Whether there is anything that the page shows: a run of MatTools alone has no page."""
    return next((settings.lake / "problems").glob("**/*.parquet"), None) is not None
