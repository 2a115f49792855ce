"""Which file an import means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

SOURCE_FOLDERS = ("src", "lib", "python")
"""Folders beside a project's tests that hold its packages and are no part of their names."""


@dataclass(slots=True)
class Modules:
    """The importable names of a source: modules by dotted name, and every package above one.

    `files` maps a dotted name to the place of its file; `packages` also holds namespace packages, which have no file.
    """

    files: dict[str, int] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)
    names: list[str] = field(default_factory=list)
    is_package: list[bool] = field(default_factory=list)

    @classmethod
    def of(cls, paths: Iterable[str]) -> Modules:
        """Modules of the files at `paths`, which are relative to the root with forward slashes."""
        modules = cls()
        for place, path in enumerate(paths):
            name, is_package = dotted_name(path)
            modules.files.setdefault(name, place)
            modules.names.append(name)
            modules.is_package.append(is_package)
            parent = name if is_package else name.rpartition(".")[0]
            while parent and parent not in modules.packages:
                modules.packages.add(parent)
                parent = parent.rpartition(".")[0]
        return modules

    def exists(self, name: str) -> bool:
        """True when `name` is a module or package of this source."""
        return name in self.files or name in self.packages

    def absolute(self, place: int, dots: int, name: str) -> str | None:
        """Full name of `name` imported with that many leading dots by the file at `place`.

        None when it lies outside the source: another package, or above the top. A plain name that is no module of the
        source but one of the same folder is that one where the folder is no package: scripts import neighbours so.
        """
        here = self.names[place] if self.is_package[place] else self.names[place].rpartition(".")[0]
        if dots == 0:
            if self.exists(name):
                return name
            neighbour = f"{here}.{name}"
            return neighbour if here not in self.files and self.exists(neighbour) else None
        for _ in range(dots - 1):
            here = here.rpartition(".")[0]
            if not here:
                return None
        full = f"{here}.{name}" if here and name else here or name
        return full if self.exists(full) else None


def dotted_name(path: str) -> tuple[str, bool]:
    """The module name of a file, and whether the file is a package's `__init__`."""
    parts = PurePosixPath(path).with_suffix("").parts
    if len(parts) > 1 and parts[0] in SOURCE_FOLDERS:
        parts = parts[1:]
    is_package = parts[-1] == "__init__" and len(parts) > 1
    return ".".join(parts[:-1] if is_package else parts), is_package
