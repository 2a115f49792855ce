"""From a folder to decoded source texts, whatever the encoding."""

from __future__ import annotations

import hashlib
import io
import os
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mattools_assets.source.problems import Problem, ProblemKind

SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Python file: `path` is relative to the root with forward slashes, `text` has only `\\n` line ends.

    `lines` counts line ends, as `wc -l` does. `sha256` is of the bytes on disk.
    """

    path: str
    text: str
    lines: int
    sha256: str


def read_files(root: Path, under: str = "") -> tuple[list[SourceFile], list[Problem]]:
    """Every `.py` file below `root / under`, in the order of their paths, and what was wrong with them.

    Hidden folders, caches and virtual environments are left out. Files that cannot be opened and symbolic links are
    problems, not errors.
    """
    files: list[SourceFile] = []
    problems: list[Problem] = []
    first_with: dict[str, str] = {}
    for path in _python_files(root / under):
        name = readable(path.relative_to(root).as_posix())
        if name != path.relative_to(root).as_posix():
            message = "the path is not UTF-8; bytes that do not fit are written as \\x and two digits"
            problems.append(Problem(name, 0, ProblemKind.ENCODING, message))
        file = _read(path, name, problems)
        if file is None:
            continue
        files.append(file)
        if not file.text:
            problems.append(Problem(name, 0, ProblemKind.EMPTY, "the file is empty"))
        elif file.sha256 in first_with:
            problems.append(Problem(name, 0, ProblemKind.IDENTICAL, f"the same bytes as {first_with[file.sha256]}"))
        first_with.setdefault(file.sha256, name)
    return files, problems


def _python_files(folder: Path) -> Iterator[Path]:
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_skipped(Path(here) / name)]
        found += [Path(here) / name for name in names if name.endswith(".py")]
    return iter(sorted(found))


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in SKIPPED_FOLDERS or (folder / "pyvenv.cfg").exists()


def _read(path: Path, name: str, problems: list[Problem]) -> SourceFile | None:
    if path.is_symlink():
        problems.append(
            Problem(name, 0, ProblemKind.LINK, f"a symbolic link to {readable(str(path.readlink()))}, not followed")
        )
        return None
    try:
        data = path.read_bytes()
    except OSError as error:
        problems.append(Problem(name, 0, ProblemKind.UNREADABLE, error.strerror or type(error).__name__))
        return None
    text, trouble = decode(data)
    if trouble:
        problems.append(Problem(name, 0, ProblemKind.ENCODING, trouble))
    return SourceFile(name, text, text.count("\n"), hashlib.sha256(data).hexdigest())


def decode(data: bytes) -> tuple[str, str | None]:
    """The text of a Python file and what was odd about its encoding, None when nothing was.

    The encoding is the byte-order mark's or the coding comment's (PEP 263), else UTF-8. Bytes that do not fit are
    read as Latin-1, which maps every byte to a character, so that no line is lost.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text, trouble = data.decode(encoding), None
    except (SyntaxError, UnicodeError, LookupError) as error:
        text, trouble = data.decode("latin-1"), f"{_one_line(error)}; read as Latin-1"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, trouble


def readable(path: str) -> str:
    """A path as text that every table can hold: bytes that are not UTF-8 become `\\x` and two digits."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
