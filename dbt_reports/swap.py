"""A database file that is built beside the one in use and then takes its place.

DuckDB lets one process write and then nobody else read, so nothing ever writes to the file that analysts open. A
connection that is open during the swap goes on reading the old file, which the system keeps until it is closed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from filelock import FileLock


def building_path(database: Path) -> Path:
    """`reports.build.duckdb` for `reports.duckdb`."""
    return database.with_suffix(".build.duckdb")


@contextmanager
def replacing(database: Path, *, start_from_present: bool = False) -> Iterator[Path]:
    """Yields the file to build; it replaces `database` when the block ends, and is discarded if the block raises.

    `start_from_present` begins with a copy of the present file, for builds of some tables only. Builds at the same
    time wait for each other.
    """
    building = building_path(database)
    database.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(building.with_suffix(".lock")):
        _discard(building)
        try:
            if start_from_present and database.exists():
                shutil.copyfile(database, building)
            yield building
            _fold_log(building)
            building.replace(database)
        finally:
            _discard(building)


def _fold_log(building: Path) -> None:
    """Bring what DuckDB may have left in its write-ahead log into the file itself: only that is renamed."""
    with duckdb.connect(building) as connection:
        connection.execute("checkpoint")


def _discard(building: Path) -> None:
    for path in (building, building.with_name(f"{building.name}.wal")):
        path.unlink(missing_ok=True)
