"""The files of a suite and how names in them lead from one to another. Nothing is imported."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mattools_assets.triplets.suite_modules import Definition, Module, parse

Found = tuple[Module, Definition]
"""A definition and the file that it is in."""


class Modules:
    """The parsed files below a root, each parsed once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.at = cache(parse)
        self.files = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]

    def name_of(self, module: Module) -> str:
        """A file's path relative to the root; of a file outside its whole path."""
        inside = module.path.is_relative_to(self.root)
        return module.path.relative_to(self.root).as_posix() if inside else module.path.as_posix()

    def names(self, module: Module) -> dict[str, Found]:
        """Top-level definitions of a module and those that it imports from other files of the suite."""
        found = {name: (module, item) for name, item in module.definitions.items()}
        for name in module.imported:
            origin = self.resolve(module, name)
            if origin is not None and name not in found:
                found[name] = origin
        for written in module.starred:
            path = self.path_of(module.path, written)
            for name, origin in self.names(self.at(path)).items() if path else ():
                found.setdefault(name, origin)
        return found

    def resolve(self, module: Module, name: str) -> Found | None:
        """Where a name of a module is defined, following imports within the suite and its package."""
        seen: set[tuple[Path, str]] = set()
        while (module.path, name) not in seen:
            seen.add((module.path, name))
            if name in module.definitions:
                return module, module.definitions[name]
            if name not in module.imported:
                return None
            written, name = module.imported[name]
            path = self.path_of(module.path, written)
            if path is None:
                return None
            module = self.at(path)
        return None

    def path_of(self, importer: Path, written: str) -> Path | None:
        """The file of a module that is imported as `written`; None outside the suite's package."""
        dots = len(written) - len(written.lstrip("."))
        parts = [part for part in written.lstrip(".").split(".") if part]
        starts = [importer.parents[dots - 1]] if dots else list(importer.parents)
        for start in starts:
            for path in (start.joinpath(*parts).with_suffix(".py"), start.joinpath(*parts, "__init__.py")):
                if parts and path.is_file():
                    return path
        return None

    def lineage(self, module: Module, item: Definition) -> list[Found]:
        """A class and its bases within the suite, nearest first."""
        return list(self._lineage(module, item, set()))

    def _lineage(self, module: Module, item: Definition, seen: set[tuple[Path, int]]) -> Iterator[Found]:
        place = (module.path, item.node.start_byte)
        if place in seen:
            return
        seen.add(place)
        yield module, item
        for base in item.bases:
            found = self.resolve(module, base)
            if found is not None:
                yield from self._lineage(*found, seen)

    def conftests(self, module: Module) -> list[Module]:
        """The conftest files in force for a module, from the root down, and the plugins that they name."""
        folders = [folder for folder in reversed(module.path.parents) if folder.is_relative_to(self.root)]
        found = []
        for folder in folders:
            if (folder / "conftest.py").is_file():
                conftest = self.at(folder / "conftest.py")
                plugins = [self.path_of(conftest.path, name) for name in conftest.plugins]
                found += [*(self.at(path) for path in plugins if path is not None), conftest]
        return found
