"""Unit tests of any pytest suite, each with what it needs: imports, globals, helpers, fixtures, parameters and files.

The suite is read, not imported. Tests are found by pytest's rules, with the names that the suite's own settings give:
functions, classes without a constructor, subclasses of `unittest.TestCase`, inherited and imported tests where their
origin is in the suite, and doctests where they are collected. What only running the suite would tell is in
`Suite.open_ends`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from mattools_assets.triplets.collection_rules import Rules, read_rules
from mattools_assets.triplets.contexts import Contexts, Fixture, Parameters
from mattools_assets.triplets.doctests import Doctest, doctests, text_doctest
from mattools_assets.triplets.modules_of_suite import Found, Modules
from mattools_assets.triplets.suite_modules import Definition, Module
from resources.lake import combined_hash

_TEST_CASES = ("unittest.TestCase", "TestCase", "unittest.IsolatedAsyncioTestCase", "IsolatedAsyncioTestCase")
_PLAIN_BASES = ("object", "ABC", "abc.ABC", "Generic", "Protocol", *_TEST_CASES)
_TEXT_DOCTESTS = "test*.txt"


@dataclass(frozen=True)
class UnitTest:
    """One test before parametrisation.

    `name` is pytest's id without the file (`TestClass::test_it`, for a doctest the object's full name). `needs` are the
    texts of imports, globals, helper functions and classes of its file in the order of that file, `fixtures` all that
    it uses, those of other fixtures too, `built_in` fixtures of pytest itself, `unresolved` parameters that nothing in
    the suite explains (plugins' fixtures), `generated_by` the `pytest_generate_tests` hooks in force, `data_files` the
    files below the suite that it or its context names.
    """

    file: str
    name: str
    kind: str
    line: int
    source: str
    is_async: bool
    parametrisation: tuple[str, ...]
    generated_by: tuple[str, ...]
    needs: tuple[str, ...]
    fixtures: tuple[Fixture, ...]
    built_in: tuple[str, ...]
    unresolved: tuple[str, ...]
    data_files: tuple[str, ...]

    @property
    def hash(self) -> str:
        """Changes with all that is read here of the test and of what it needs."""
        return combined_hash(self.source, *self.needs, *self.generated_by, *map(repr, self.fixtures))


@dataclass(frozen=True)
class OpenEnd:
    """Something of a suite that cannot be told without running it, so that tests may be missing or differ."""

    file: str
    name: str
    reason: str


class Suite:
    """The test suite in a folder. `doctests` collects those of every module, as pytest's option does."""

    def __init__(self, root: Path, doctests: bool = False) -> None:
        self.root = root
        self.rules: Rules = read_rules(root, doctests)
        self.modules = Modules(root)
        self.contexts = Contexts(self.modules)

    def tests(self) -> Iterator[UnitTest]:
        """All tests, by file and then in the order of definition."""
        for path in sorted(self.root.rglob("*.py")):
            if self.rules.is_test_file(path.name):
                module = self.modules.at(path)
                for name, origin, lineage in self._collected(module):
                    yield self._unit_test(module, name, origin, lineage)
            if self.rules.doctests and path.name not in ("__main__.py", "setup.py"):
                yield from (self._doctest(self.modules.at(path), item) for item in doctests(self.modules.at(path)))
        for path in sorted(self.root.rglob("*.txt")):
            if fnmatch(path.name, _TEXT_DOCTESTS) and (found := text_doctest(path)):
                yield self._doctest(None, found, path)

    def open_ends(self) -> Iterator[OpenEnd]:
        """What cannot be told statically: bases and star imports from elsewhere, hooks that collect by themselves."""
        for path in sorted(self.root.rglob("*.py")):
            module = self.modules.at(path)
            file = self.modules.name_of(module)
            if path.name == "conftest.py":
                yield from (OpenEnd(file, name, "decides by running what is collected") for name in _hooks(module))
                missing = [name for name in module.plugins if self.modules.path_of(path, name) is None]
                yield from (OpenEnd(file, name, "a plugin outside the suite") for name in missing)
            if not self.rules.is_test_file(path.name):
                continue
            for written in module.starred:
                if self.modules.path_of(path, written) is None:
                    yield OpenEnd(file, written, "all names are imported from outside the suite")
            yield from self._open_bases(file, module)

    def _open_bases(self, file: str, module: Module) -> Iterator[OpenEnd]:
        for name, (origin, item) in self.modules.names(module).items():
            for owner, ancestor in self.modules.lineage(origin, item) if item.is_class else ():
                for base in ancestor.bases:
                    plain = base.partition("[")[0]
                    if plain not in _PLAIN_BASES and self.modules.resolve(owner, plain) is None:
                        yield OpenEnd(file, name, f"its base {base} is defined outside the suite")

    def _collected(self, module: Module) -> Iterator[tuple[str, Found, list[Found]]]:
        for name, (origin, item) in self.modules.names(module).items():
            if item.is_class:
                yield from self._methods(name, origin, item)
            elif self.rules.is_test_function(name):
                yield name, (origin, item), []

    def _methods(self, name: str, origin: Module, item: Definition) -> Iterator[tuple[str, Found, list[Found]]]:
        lineage = self.modules.lineage(origin, item)
        members: dict[str, Found] = {}
        for module, ancestor in reversed(lineage):
            members |= {member.name: (module, member) for member in ancestor.members()}
        case = any(base in _TEST_CASES for _, ancestor in lineage for base in ancestor.bases)
        hidden = next((said for _, ancestor in lineage if (said := ancestor.assigns("__test__"))), "True") == "False"
        constructed = {"__init__", "__new__"} & members.keys()
        if hidden or not (case or (self.rules.is_test_class(name) and not constructed)):
            return
        for member, (module, method) in members.items():
            if method.is_class:
                for inner, found, inner_lineage in self._methods(member, module, method):
                    yield f"{name}::{inner}", found, [*lineage, *inner_lineage]
            elif self.rules.is_test_function(member) or (case and member.startswith("test")):
                yield f"{name}::{member}", (module, method), lineage

    def _unit_test(self, collector: Module, name: str, origin: Found, lineage: list[Found]) -> UnitTest:
        module, item = origin
        parameters = self.contexts.parameters(collector, item, lineage)
        needs = self.contexts.needs(module, [item, *(each for owner, each in lineage if owner is module)])
        used = parameters.fixtures.values()
        texts = [item.source, *needs, *(part for fixture in used for part in (fixture.source, *fixture.needs))]
        return self._made(collector.path, name, item, parameters, needs, texts)

    def _made(
        self, path: Path, name: str, item: Definition, found: Parameters, needs: tuple[str, ...], texts: list[str]
    ) -> UnitTest:
        return UnitTest(
            file=path.relative_to(self.root).as_posix(),
            name=name,
            kind="test",
            line=item.line,
            source=item.source,
            is_async=item.is_async,
            parametrisation=found.parametrisation,
            generated_by=found.generated_by,
            needs=needs,
            fixtures=tuple(found.fixtures.values()),
            built_in=tuple(found.built_in),
            unresolved=tuple(found.unresolved),
            data_files=self.contexts.data_files(texts),
        )

    def _doctest(self, module: Module | None, found: Doctest, path: Path | None = None) -> UnitTest:
        where = path or (module.path if module else self.root)
        names = [name for source in found.examples for name in _names_in(source)]
        needs = self.contexts.needs(module, [], names) if module else ()
        return UnitTest(
            file=where.relative_to(self.root).as_posix(),
            name=found.name,
            kind="doctest",
            line=found.line,
            source=found.docstring,
            is_async=False,
            parametrisation=(),
            generated_by=(),
            needs=needs,
            fixtures=(),
            built_in=(),
            unresolved=(),
            data_files=self.contexts.data_files(found.examples),
        )


def _hooks(module: Module) -> list[str]:
    """Names in a conftest by which pytest lets it decide what is collected."""
    settings = [name for name in ("collect_ignore", "collect_ignore_glob") if name in module.bindings]
    hooks = ("pytest_collect_", "pytest_ignore_collect", "pytest_pycollect_", "pytest_collection_")
    return settings + [name for name in module.definitions if name.startswith(hooks)]


def _names_in(source: str) -> list[str]:
    try:
        return [node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    except SyntaxError:
        return []
