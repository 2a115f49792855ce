"""A source named in one line, as `CONDMAT_TOOL_SOURCE` does: wheels of PyPI, a folder, or a commit of a repository."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mattools_assets.source.errors import SourceError
from mattools_assets.source.obtain import (
    DEFAULT_PACKAGES,
    Obtained,
    Package,
    commit_of,
    from_checkout,
    from_folder,
    from_wheels,
)
from mattools_assets.source.reading import read_files, readable

FORMS = "name==version,…, folder:PATH or git:PATH@COMMIT"


@dataclass(frozen=True, slots=True)
class Specification:
    """What was asked for: packages, or a folder, or a commit of the repository in a folder."""

    packages: tuple[Package, ...] = ()
    folder: Path | None = None
    commit: str = ""

    def __str__(self) -> str:
        if self.folder is None:
            return ",".join(f"{package.name}=={package.version}" for package in self.packages)
        folder = readable(str(self.folder))
        return f"git:{folder}@{self.commit}" if self.commit else f"folder:{folder}"

    def obtain(self, cache: Path) -> Obtained:
        """The source, fetched below `cache` where it is not a folder. Raises SourceError."""
        if self.folder is None:
            return from_wheels(self.packages, cache)
        return from_checkout(self.folder, self.commit, cache) if self.commit else from_folder(self.folder)

    def identity(self) -> str:
        """What the source is at present: a folder's contents, a commit in full. Nothing is fetched for it.

        Raises SourceError when the folder, repository or commit is not there.
        """
        if self.folder is None:
            return str(self)
        if self.commit:
            return f"git:{commit_of(self.folder, self.commit)}"
        found = from_folder(self.folder)
        files, _ = read_files(found.root, found.under)
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.path}\0{file.sha256}\0".encode())
        return f"folder:{digest.hexdigest()[:32]}"


DEFAULT = Specification(DEFAULT_PACKAGES)


def parse_specification(text: str) -> Specification:
    """What `text` names; the published source when it is empty. Raises SourceError."""
    if not text:
        return DEFAULT
    kind, colon, rest = text.partition(":")
    if colon and kind == "folder" and rest:
        return Specification(folder=Path(rest).absolute())
    if colon and kind == "git":
        path, at, commit = rest.rpartition("@")
        if at and path and commit:
            return Specification(folder=Path(path).absolute(), commit=commit)
    elif not colon:
        parts = [part.strip().partition("==") for part in text.split(",")]
        if all(name and equals and version for name, equals, version in parts):
            _refuse_repeated([name for name, _, _ in parts], text)
            return Specification(tuple(Package(name, version) for name, _, version in parts))
    raise SourceError(f"CONDMAT_TOOL_SOURCE={text!r}: names no source; write it as {FORMS}")


def _refuse_repeated(names: Sequence[str], text: str) -> None:
    """Names are compared as PyPI does (PEP 503)."""
    seen: set[str] = set()
    for name in names:
        normal = re.sub(r"[-_.]+", "-", name).lower()
        if normal in seen:
            raise SourceError(f"CONDMAT_TOOL_SOURCE={text!r}: lists {name} more than once; list each package once")
        seen.add(normal)
