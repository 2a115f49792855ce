"""Opening the ledger's database: SQLite (write-ahead log) or PostgreSQL, brought to the newest schema.

Writing transactions are one at a time over all processes: SQLite has it so, on PostgreSQL an advisory lock does it.
They are short and hold many rows, so that this costs nothing and races between processes cannot be.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from resources.llm.schema import REVISION

BUSY_SECONDS = 60.0
_ADVISORY_LOCK = 7_243_581


class LedgerError(RuntimeError):
    """The ledger cannot be opened or written; the message is one line with the mend and without a password."""


def open_engine(url: str) -> Engine:
    """An engine on the database at `url`, at the newest schema. Raises LedgerError."""
    address = _address(url)
    try:
        engine = _sqlite(address) if address.get_backend_name() == "sqlite" else create_engine(address)
        migrate(engine)
    except (DBAPIError, OSError, ModuleNotFoundError) as error:
        raise LedgerError(f"{_shown(address)}: {first_line(error)}; check CONDMAT_LEDGER_URL") from None
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that may write; no other process writes meanwhile. Raises LedgerError."""
    try:
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            if engine.dialect.name == "postgresql":
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            yield connection
    except DBAPIError as error:
        raise LedgerError(f"{_shown(engine.url)}: cannot be written ({first_line(error)})") from None


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads and blocks nobody. Raises LedgerError."""
    try:
        with engine.connect() as connection, connection.begin():
            yield connection
    except DBAPIError as error:
        raise LedgerError(f"{_shown(engine.url)}: cannot be read ({first_line(error)})") from None


def migrate(engine: Engine) -> None:
    """Bring the schema to REVISION; safe when several processes do it at once."""
    with reading(engine) as connection:
        if _revision(connection) == REVISION:
            return
    # Only now: Alembic takes as long to load as the rest of the ledger.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with writing(engine) as connection:
        found = _revision(connection)
        if found == REVISION:
            return
        try:
            ScriptDirectory.from_config(config).get_revision(found or REVISION)
        except CommandError:
            message = f"is of a newer version ({found}) than this program knows; update the program"
            raise LedgerError(f"{_shown(engine.url)}: {message}") from None
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def first_line(error: BaseException) -> str:
    """The error's own message without SQL and parameters, which may hold prompts."""
    original = getattr(error, "orig", None) or error
    return (str(original).strip() or type(original).__name__).splitlines()[0]


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    value: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return value


def _address(url: str) -> URL:
    try:
        address = make_url(url)
        address.get_dialect()
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError):
        address = None
    if address is None or address.get_backend_name() not in ("sqlite", "postgresql"):
        raise LedgerError(
            "CONDMAT_LEDGER_URL is no usable address; write sqlite:///path/to/ledger.sqlite or "
            "postgresql+psycopg2://user@host/database"
        )
    return address


def _shown(address: URL) -> str:
    return address.render_as_string(hide_password=True)


def _sqlite(address: URL) -> Engine:
    if not address.database or address.database == ":memory:":
        raise LedgerError("CONDMAT_LEDGER_URL: the ledger needs a file; write sqlite:///path/to/ledger.sqlite")
    Path(address.database).absolute().parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(address, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def _connect(connection: sqlite3.Connection, _record: Any) -> None:
        # Transactions are begun by the listener below: the driver's own way cannot say IMMEDIATE.
        connection.isolation_level = None
        _use_write_ahead_log(connection)
        # An answer was paid for: it is on the disk before anybody uses it.
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switching the journal does not wait for other processes as everything else does, so this waits itself."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
