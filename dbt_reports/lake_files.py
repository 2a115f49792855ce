"""The lake's files that the reports read: which there are, and whether they are whole."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dbt_reports.project import ReportsError

TABLES = (
    "problems",
    "direct_scores",
    "code_runs",
    "code_scores",
    "react_runs",
    "react_scores",
    "code_objects",
    "references",
    "qa_scores",
    "qa_accuracy",
    "retrieval_recall",
    "tool_questions",
    "tool_scores",
)


def lake_files(lake: Path) -> list[Path]:
    """The Parquet files of the tables that the reports read."""
    return [path for table in TABLES for path in sorted((lake / table).glob("**/*.parquet"))]


def fingerprint(files: list[Path]) -> str:
    """Identity of the files as they are now, by name, size and time of writing."""
    digest = hashlib.sha256()
    for path in files:
        facts = path.stat()
        digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:32]


def check_footers(files: list[Path]) -> None:
    """Raises ReportsError naming the first file whose end, where Parquet keeps its contents, is missing or broken."""
    for path in files:
        try:
            pq.read_metadata(path)
        except (pa.ArrowException, OSError) as error:
            raise _broken(path, error) from None


def check_pages(files: list[Path]) -> None:
    """Raises ReportsError naming the first file that cannot be read as a whole; slower than its footer alone."""
    for path in files:
        try:
            pq.read_table(path, partitioning=None)
        except (pa.ArrowException, OSError) as error:
            raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> ReportsError:
    reason = " ".join(str(getattr(error, "strerror", None) or error).split())[:200]
    return ReportsError(
        f"{path}: cannot be read as Parquet ({reason}); delete this file and run again, only it is made anew"
    )
