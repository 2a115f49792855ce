"""Build `reports.duckdb` from the lake: `python -m dbt_reports.build`."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from dbt_reports.lake_files import check_footers, check_pages, fingerprint, lake_files
from dbt_reports.project import (
    ReportsError,
    build_folder,
    dbt_variables,
    explaining_disk_errors,
    project_fingerprint,
    run_dbt,
)
from dbt_reports.swap import replacing
from resources.settings import SettingError, Settings, read_settings


@dataclass(frozen=True)
class Built:
    """What a build did. `changed` is False when the database was already made from these files."""

    database: Path
    n_files: int
    changed: bool


def build_reports(settings: Settings, *, force: bool = False) -> Built:
    """Bring `reports.duckdb` up to date with the lake, unless nothing changed since it was built.

    Raises ReportsError with one line that names the file and the mend; the database in use then stays as it was.
    """
    files = lake_files(settings.lake)
    target = build_folder(settings)
    made_from = target / "made_from"
    identity = f"{project_fingerprint()} {fingerprint(files)}"
    if not force and settings.reports_database.exists() and made_from.exists() and made_from.read_text() == identity:
        return Built(settings.reports_database, len(files), changed=False)
    check_footers(files)
    with explaining_disk_errors(settings):
        target.mkdir(parents=True, exist_ok=True)
        with replacing(settings.reports_database) as database:
            _run(settings, database, target, files)
        made_from.write_text(identity)
    return Built(settings.reports_database, len(files), changed=True)


def _run(settings: Settings, database: Path, target: Path, files: list[Path]) -> None:
    try:
        run_dbt(["build", "--fail-fast", *dbt_variables(settings, database)], target)
    except ReportsError:
        check_pages(files)  # a broken file is the better explanation
        raise


def main() -> int:
    """Build and say what was done."""
    parser = argparse.ArgumentParser(prog="python -m dbt_reports.build", description=__doc__)
    parser.add_argument("--force", action="store_true", help="build even when nothing has changed")
    arguments = parser.parse_args()
    start = time.monotonic()
    try:
        built = build_reports(read_settings(), force=arguments.force)
    except (ReportsError, SettingError) as error:
        print(error, file=sys.stderr)
        return 1
    done = f"built in {time.monotonic() - start:.1f} s" if built.changed else "is up to date"
    print(f"{built.database} {done}, from {built.n_files} files of the lake")
    return 0


if __name__ == "__main__":
    sys.exit(main())
