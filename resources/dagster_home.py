"""The folder in which Dagster keeps its runs and events: made once, with its settings, and opened."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import dagster as dg
import yaml
from dagster_shared.check import CheckError
from sqlalchemy.exc import DBAPIError

CONFIGURATION = """\
# Written by condmat-evals when this folder was made; yours to change.
telemetry:
  enabled: false
nux:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 2
# What assets say is in each run's events. Capturing standard output as well takes four processes a step, which Ctrl-C
# on `make run` would end with tracebacks of their own.
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""


class DagsterHomeError(Exception):
    """A DAGSTER_HOME that cannot be used; the message is one line with the folder and the mend."""


def open_instance(home: Path) -> dg.DagsterInstance:
    """The instance in `home`, which is made when missing; DAGSTER_HOME names it from now on, for child processes too.

    Two processes that set up a fresh folder at once lock each other out of its databases, so one waits for the other.
    Raises DagsterHomeError.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            configuration = home / "dagster.yaml"
            if not configuration.exists():
                configuration.write_text(CONFIGURATION)
            os.environ["DAGSTER_HOME"] = str(home)
            instance = dg.DagsterInstance.get()
            # The databases are only made when first used.
            instance.get_runs(limit=1)
            instance.event_log_storage.get_maximum_record_id()
            instance.schedule_storage.all_instigator_state()  # type: ignore[union-attr]
            return instance
    except DBAPIError as error:
        raise _storage_error(home, error) from None
    except (UnicodeDecodeError, yaml.YAMLError, dg.DagsterInvalidConfigError, CheckError) as error:
        raise DagsterHomeError(
            f"{home / 'dagster.yaml'}: cannot be used ({' '.join(str(error).split()):.200}); "
            "mend it, or delete it to have it made anew"
        ) from None
    except OSError as error:
        raise DagsterHomeError(
            f"{error.filename or home}: cannot be used ({error.strerror}); "
            "make the folder writable or point DAGSTER_HOME or CONDMAT_DATA at another one"
        ) from None


@contextmanager
def explaining_storage_errors(home: Path) -> Iterator[None]:
    """Turns what goes wrong with Dagster's own databases, such as a full disk, into a DagsterHomeError."""
    try:
        yield
    except DBAPIError as error:
        raise _storage_error(home, error) from None


def _storage_error(home: Path, error: DBAPIError) -> DagsterHomeError:
    if damaged := next(filter(_is_damaged, sorted(home.rglob("*.db"))), None):
        return DagsterHomeError(
            f"{damaged}: is damaged ({error.orig}); delete it and run again: results are kept, "
            "only Dagster's record of them is lost"
        )
    return DagsterHomeError(
        f"{home}: Dagster's record of runs cannot be used ({error.orig}); free some space, make the folder writable or "
        "move it away, and run again: what is finished is kept"
    )


def _is_damaged(database: Path) -> bool:
    """Whether a database of SQLite's is none or broken; one that is in use or cannot be read is neither."""
    if not database.is_file():
        return True
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("pragma quick_check(1)").fetchone() != ("ok",))
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True
