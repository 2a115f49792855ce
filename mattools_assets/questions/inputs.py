"""The input files of the published questions: unpacked once under the data folder, copied into each execution."""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "tool_source_code/pymatgen-analysis-defects/tests/test_files"
INSIDE = "tests/test_files"
_DAMAGED = (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError, OverflowError)


class InputFilesError(ValueError):
    """An archive or folder that cannot be used; one line that says why."""


@dataclass(frozen=True)
class InputFiles:
    """Files by path relative to the folder of test files."""

    files: Mapping[str, Path] = field(default_factory=dict)

    def named_in(self, question: str) -> dict[str, bytes | Path]:
        """The files that a question speaks of, by the relative paths at which it expects them.

        A file counts when its name, or that of the folder at the top that holds it, occurs in the question; all 30 MB
        in every execution would be slow.
        """
        named = {top for top in {name.split("/")[0] for name in self.files} if top in question}
        return {f"{PREFIX}/{name}": path for name, path in self.files.items() if name.split("/")[0] in named}


def read_folder(folder: Path) -> InputFiles:
    """All files under `folder`, which is a `tests/test_files`."""
    if not folder.is_dir():
        raise InputFilesError(f"{folder}: no such folder")
    return InputFiles(
        {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    )


def unpack(archive: Path, data: Path) -> InputFiles:
    """The files of a tar archive that holds `tests/test_files`, unpacked once under the data folder."""
    try:
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
        folder = data / "mattools" / f"test-files-{digest}"
        if not folder.exists():
            _extract(archive, folder)
    except _DAMAGED as error:
        raise InputFilesError(f"{archive}: cannot be unpacked ({_short(error)}); download it again") from None
    if not (folder / INSIDE).is_dir():
        raise InputFilesError(f"{archive}: holds no folder {INSIDE}; take the archive that MatTools publishes")
    return read_folder(folder / INSIDE)


def _extract(archive: Path, folder: Path) -> None:
    """Unpacks into `folder`, which is there only once it is whole."""
    beside = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        with tarfile.open(archive) as content:
            content.extractall(beside, filter="data")
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _short(error: Exception) -> str:
    """The first line: for what is no archive at all, Python lists each kind that it is not."""
    return str(error).partition("\n")[0].rstrip(":") or type(error).__name__
