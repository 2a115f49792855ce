"""What a run prints on the terminal: what the assets say, but not Dagster's own events."""

from __future__ import annotations

import logging

import dagster as dg

SAID = "condmat_said"
"""Mark of a record that went into a run's log, from where it is printed."""


def quiet_libraries() -> None:
    """Libraries' warnings on stderr, and nothing less.

    To be called before they are imported: some would have every library's notes printed, such as a line a request.
    """
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Plain())
    handler.addFilter(_Elsewhere())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("alembic").setLevel(logging.WARNING)


class _Elsewhere(logging.Filter):
    """Keeps back what a run's log, and so its own console, has already."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not hasattr(record, SAID) and not hasattr(record, "dagster_meta")


class _Spoken(logging.Filter):
    """Lets through what assets log and keeps back Dagster's events; a failure is said once, by whoever catches it."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "dagster_meta", {}).get("dagster_event") is None


class _Plain(logging.Formatter):
    """The message alone, with its level where that matters."""

    def format(self, record: logging.LogRecord) -> str:
        text = getattr(record, "dagster_meta", {}).get("orig_message") or record.getMessage()
        return text if record.levelno < logging.WARNING else f"{record.levelname.lower()}: {text}"


@dg.logger(None, "Prints what assets say, without Dagster's events.")
def plain_console(_: dg.InitLoggerContext) -> logging.Logger:
    """The logger of runs whose assets count what they do."""
    return _console(logging.INFO)


@dg.logger(None, "Prints warnings only.")
def warnings_console(_: dg.InitLoggerContext) -> logging.Logger:
    """The logger of runs of other people's talkative assets."""
    return _console(logging.WARNING)


def _console(level: int) -> logging.Logger:
    logger = logging.Logger("condmat", level=level)
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain())
    handler.addFilter(_Spoken())
    logger.addHandler(handler)
    return logger
