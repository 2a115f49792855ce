"""Unit tests of any pytest suite, each with what it needs: imports, globals, helpers, fixtures, parameters and files.

The suite is read, not imported. Tests are found by pytest's default rules: files `test_*.py` and `*_test.py`, functions
`test*`, classes `Test*` without a constructor and subclasses of `unittest.TestCase`, inherited and imported tests
included where their origin is in the suite.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mattools_assets.triplets.suite_modules import Definition, Module, identifiers, parse, parse_text, strings, text

_FIXTURE = re.compile(r"(pytest\.|pytest_asyncio\.)?fixture\b")
_FIXTURE_NAME = re.compile(r"\bname\s*=\s*[\"'](\w+)[\"']")
_USED = re.compile(r"usefixtures\(([^)]*)\)")
_PARAMETRISED = re.compile(r"(pytest\.)?mark\.parametrize\(")
_TEST_CASES = ("unittest.TestCase", "TestCase", "unittest.IsolatedAsyncioTestCase", "IsolatedAsyncioTestCase")


@dataclass(frozen=True)
class Fixture:
    """A fixture that a test uses, with the file it comes from and the statements it needs there."""

    name: str
    file: str
    source: str
    needs: tuple[str, ...]


@dataclass(frozen=True)
class UnitTest:
    """One test before parametrisation.

    `name` is pytest's id without the file (`TestClass::test_it`). `needs` are the texts of imports, globals, helper
    functions and classes of its file in the order of that file, `fixtures` all that it uses, those of other fixtures
    too, `unresolved` parameters that neither a fixture of the suite nor parametrisation explains (pytest's own and
    plugins'), `data_files` the files below the suite that it or its context names.
    """

    file: str
    name: str
    line: int
    source: str
    is_async: bool
    parametrisation: tuple[str, ...]
    needs: tuple[str, ...]
    fixtures: tuple[Fixture, ...]
    unresolved: tuple[str, ...]
    data_files: tuple[str, ...]


class Suite:
    """The test suite in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._module = cache(parse)
        self._files = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]

    def tests(self) -> Iterator[UnitTest]:
        """All tests, by file and then in the order of definition."""
        for path in sorted({*self.root.rglob("test_*.py"), *self.root.rglob("*_test.py")}):
            module = self._module(path)
            for name, origin, chain in self._collected(module):
                yield self._unit_test(module, name, origin, chain)

    def _collected(self, module: Module) -> Iterator[tuple[str, tuple[Module, Definition], tuple[Definition, ...]]]:
        for name, (origin, item) in self._names(module).items():
            if item.is_class:
                yield from self._methods(name, origin, item, module)
            elif name.startswith("test"):
                yield name, (origin, item), ()

    def _names(self, module: Module) -> dict[str, tuple[Module, Definition]]:
        """Top-level definitions of a module and those that it imports from other files of the suite."""
        found = {name: (module, item) for name, item in module.definitions.items()}
        for name in module.imported:
            origin = self._resolve(module, name)
            if origin is not None and name not in found:
                found[name] = origin
        return found

    def _resolve(self, module: Module, name: str) -> tuple[Module, Definition] | None:
        """Where a name of a module is defined, following imports within the suite and its package."""
        seen: set[tuple[Path, str]] = set()
        while (module.path, name) not in seen:
            seen.add((module.path, name))
            if name in module.definitions:
                return module, module.definitions[name]
            if name not in module.imported:
                return None
            written, name = module.imported[name]
            path = self._module_path(module.path, written)
            if path is None:
                return None
            module = self._module(path)
        return None

    def _module_path(self, importer: Path, written: str) -> Path | None:
        """The file of a module that is imported as `written`; None outside the suite's package."""
        dots = len(written) - len(written.lstrip("."))
        parts = [part for part in written.lstrip(".").split(".") if part]
        starts = [importer.parents[dots - 1]] if dots else list(importer.parents)
        for start in starts:
            for path in (start.joinpath(*parts).with_suffix(".py"), start.joinpath(*parts, "__init__.py")):
                if parts and path.is_file():
                    return path
        return None

    def _methods(
        self, name: str, origin: Module, item: Definition, collector: Module
    ) -> Iterator[tuple[str, tuple[Module, Definition], tuple[Definition, ...]]]:
        lineage = list(self._lineage(origin, item, set()))
        members: dict[str, tuple[Module, Definition]] = {}
        for module, ancestor in reversed(lineage):
            members |= {member.name: (module, member) for member in ancestor.members()}
        case = any(base in _TEST_CASES for _, ancestor in lineage for base in ancestor.bases)
        hidden = next((said for _, ancestor in lineage if (said := ancestor.assigns("__test__"))), "True") == "False"
        if hidden or not (case or (name.startswith("Test") and not {"__init__", "__new__"} & members.keys())):
            return
        chain = tuple(ancestor for _, ancestor in lineage)
        for member, (module, method) in members.items():
            if method.is_class:
                for inner, found, inner_chain in self._methods(member, module, method, collector):
                    yield f"{name}::{inner}", found, (*chain, *inner_chain)
            elif member.startswith("test"):
                yield f"{name}::{member}", (module, method), chain

    def _lineage(self, module: Module, item: Definition, seen: set[int]) -> Iterator[tuple[Module, Definition]]:
        """A class and its bases within the suite, nearest first."""
        if item.node.id in seen:
            return
        seen.add(item.node.id)
        yield module, item
        for base in item.bases:
            found = self._resolve(module, base)
            if found is not None:
                yield from self._lineage(*found, seen)

    def _unit_test(
        self, collector: Module, name: str, origin: tuple[Module, Definition], chain: tuple[Definition, ...]
    ) -> UnitTest:
        module, item = origin
        decorators = [*item.decorators, *(text for ancestor in chain for text in ancestor.decorators)]
        parametrisation = tuple(text for text in decorators if _PARAMETRISED.search(text))
        provided = _parametrised_names(parametrisation)
        asked = [one for one in item.parameters if one not in provided and one not in ("self", "cls")]
        asked += [name for text in decorators for used in _USED.findall(text) for name in re.findall(r"\w+", used)]
        fixtures, unresolved = self._fixtures(collector, chain, asked)
        needs = self._needs(module, [item, *chain])
        texts = [item.source, *needs, *(part for fixture in fixtures for part in (fixture.source, *fixture.needs))]
        return UnitTest(
            file=collector.path.relative_to(self.root).as_posix(),
            name=name,
            line=item.line,
            source=item.source,
            is_async=item.is_async,
            parametrisation=parametrisation,
            needs=needs,
            fixtures=fixtures,
            unresolved=unresolved,
            data_files=self._data_files(texts),
        )

    def _fixtures(
        self, module: Module, chain: Iterable[Definition], asked: Iterable[str]
    ) -> tuple[tuple[Fixture, ...], tuple[str, ...]]:
        """The fixtures asked for or in force by themselves, with those that they ask for; and what none provides."""
        known = self._known_fixtures(module, chain)
        waiting = [*asked, *(name for name, (_, item) in known.items() if _is_autouse(item))]
        found: dict[str, Fixture] = {}
        unresolved: dict[str, None] = {}
        while waiting:
            name = waiting.pop(0)
            if name in found or name in unresolved:
                continue
            if name not in known:
                unresolved[name] = None
                continue
            origin, item = known[name]
            file = origin.path.relative_to(self.root).as_posix()
            found[name] = Fixture(name, file, item.source, self._needs(origin, [item]))
            waiting += [one for one in item.parameters if one not in ("self", "cls", "request")]
        return tuple(found.values()), tuple(unresolved)

    def _known_fixtures(self, module: Module, chain: Iterable[Definition]) -> dict[str, tuple[Module, Definition]]:
        """Fixtures in reach by name: the conftest chain from the root down, then the module, then the class."""
        folders = [folder for folder in reversed(module.path.parents) if folder.is_relative_to(self.root)]
        sources = [self._module(folder / "conftest.py") for folder in folders if (folder / "conftest.py").is_file()]
        known: dict[str, tuple[Module, Definition]] = {}
        for source in [*sources, module]:
            for name, (origin, item) in self._names(source).items():
                if _is_fixture(item):
                    known[_fixture_name(item, name)] = (origin, item)
        for ancestor in chain:
            known |= {_fixture_name(one, one.name): (module, one) for one in ancestor.members() if _is_fixture(one)}
        return known

    def _needs(self, module: Module, items: Iterable[Definition]) -> tuple[str, ...]:
        """The top-level statements of a module that the definitions use, directly or through one another."""
        starts = list(items)
        own = {item.outer.id for item in starts}
        waiting = [text(node) for item in starts for node in identifiers(item.outer)]
        needed: dict[int, tuple[int, str]] = {}
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            node = module.bindings.get(name)
            if node is None and name in module.definitions and not _is_fixture(module.definitions[name]):
                node = module.definitions[name].outer
            if node is None or node.id in own:
                continue
            needed[node.id] = (node.start_byte, text(node))
            waiting += [text(one) for one in identifiers(node)]
        return tuple(source for _, source in sorted(needed.values()))

    def _data_files(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Files of the suite whose path ends with a string literal in the texts."""
        literals = {
            part.strip("/") for source in texts for part in strings(parse_text(source)) if "." in part or "/" in part
        }
        return tuple(name for name in self._files if any(f"/{name}".endswith(f"/{one}") for one in literals if one))


def _parametrised_names(decorators: Iterable[str]) -> set[str]:
    """The argument names that `parametrize` decorators fill."""
    names: set[str] = set()
    for decorator in decorators:
        first = re.split(r"parametrize\(\s*(?:argnames\s*=\s*)?", decorator, maxsplit=1)[1]
        listed = re.match(r"[\[(]([^\])]*)[\])]|([\"'][^\"']*[\"'])", first)
        names |= set(re.findall(r"\w+", listed.group())) if listed else set()
    return names


def _is_fixture(item: Definition) -> bool:
    return not item.is_class and any(_FIXTURE.match(decorator) for decorator in item.decorators)


def _is_autouse(item: Definition) -> bool:
    return any(re.search(r"autouse\s*=\s*True", decorator) for decorator in item.decorators)


def _fixture_name(item: Definition, name: str) -> str:
    renamed = next((match.group(1) for one in item.decorators if (match := _FIXTURE_NAME.search(one))), None)
    return renamed or name
