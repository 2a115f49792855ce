"""What a test needs: statements of its file, fixtures, hooks that generate its parameters, data files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from mattools_assets.triplets.collection_rules import BUILT_IN_FIXTURES
from mattools_assets.triplets.modules_of_suite import Found, Modules
from mattools_assets.triplets.suite_modules import Definition, Module, identifiers, parse_text, strings, text

GENERATOR = "pytest_generate_tests"
_FIXTURE = re.compile(r"(pytest\.|pytest_asyncio\.)?fixture\b")
_FIXTURE_NAME = re.compile(r"\bname\s*=\s*[\"'](\w+)[\"']")
_USED = re.compile(r"usefixtures\(([^)]*)\)")
_PARAMETRISED = re.compile(r"(pytest\.)?mark\.parametrize\(")
_CALL = re.compile(r"\.parametrize\(")


@dataclass(frozen=True)
class Fixture:
    """A fixture that a test uses, with the file it comes from and the statements it needs there."""

    name: str
    file: str
    source: str
    needs: tuple[str, ...]


@dataclass
class Parameters:
    """How the parameters of a test are filled; `unresolved` are those that nothing in the suite explains."""

    parametrisation: tuple[str, ...] = ()
    generated_by: tuple[str, ...] = ()
    fixtures: dict[str, Fixture] = field(default_factory=dict)
    built_in: dict[str, None] = field(default_factory=dict)
    unresolved: dict[str, None] = field(default_factory=dict)


class Contexts:
    """Looks up what the tests of a suite need."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules

    def parameters(self, collector: Module, item: Definition, lineage: list[Found]) -> Parameters:
        """Of a function of `collector` (perhaps inherited) whose class has this lineage."""
        decorators = [*item.decorators, *(text for _, ancestor in lineage for text in ancestor.decorators)]
        decorators += re.findall(r"[^\[\],]*mark\.\w+\([^)]*\)", _pytestmark(collector))
        found = Parameters(tuple(text for text in decorators if _PARAMETRISED.search(text)))
        hooks = self._generators(collector, lineage)
        found.generated_by = tuple(hook.source for hook in hooks)
        provided = {name for source in (*found.parametrisation, *found.generated_by) for name in _filled(source)}
        asked = [one for one in item.parameters if one not in provided and one not in ("self", "cls")]
        asked += [name for text in decorators for used in _USED.findall(text) for name in re.findall(r"\w+", used)]
        self._fill(found, collector, lineage, asked)
        return found

    def needs(self, module: Module, items: Iterable[Definition], names: Iterable[str] = ()) -> tuple[str, ...]:
        """The top-level statements of a module that the definitions and names use, directly or through one another."""
        starts = list(items)
        own = {item.outer.id for item in starts}
        waiting = [*names, *(text(node) for item in starts for node in identifiers(item.outer))]
        needed: dict[int, tuple[int, str]] = {}
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            node = module.bindings.get(name)
            if node is None and name in module.definitions and not is_fixture(module.definitions[name]):
                node = module.definitions[name].outer
            if node is None or node.id in own:
                continue
            needed[node.id] = (node.start_byte, text(node))
            waiting += [text(one) for one in identifiers(node)]
        return tuple(source for _, source in sorted(needed.values()))

    def data_files(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Files of the suite whose path ends with a string literal in the texts."""
        literals = {
            part.strip("/") for source in texts for part in strings(parse_text(source)) if "." in part or "/" in part
        }
        files = self.modules.files
        return tuple(name for name in files if any(f"/{name}".endswith(f"/{one}") for one in literals if one))

    def _generators(self, collector: Module, lineage: list[Found]) -> list[Definition]:
        """The hooks that may give the test parameters: in the conftest chain, its file and its class."""
        files = [*self.modules.conftests(collector), collector]
        hooks = [file.definitions[GENERATOR] for file in files if GENERATOR in file.definitions]
        members = [member for _, ancestor in lineage for member in ancestor.members() if member.name == GENERATOR]
        return hooks + members[:1]

    def _fill(self, found: Parameters, module: Module, lineage: list[Found], asked: Iterable[str]) -> None:
        known = self._known(module, lineage)
        waiting = [*asked, *(name for name, (_, item) in known.items() if _is_autouse(item))]
        while waiting:
            name = waiting.pop(0)
            if name in found.fixtures or name in found.unresolved or name in found.built_in:
                continue
            if name not in known:
                (found.built_in if name in BUILT_IN_FIXTURES else found.unresolved)[name] = None
                continue
            origin, item = known[name]
            found.fixtures[name] = Fixture(name, self.modules.name_of(origin), item.source, self.needs(origin, [item]))
            waiting += [one for one in item.parameters if one not in ("self", "cls", "request")]

    def _known(self, module: Module, lineage: list[Found]) -> dict[str, Found]:
        """Fixtures in reach by name: the conftest chain from the root down, then the module, then the class."""
        known: dict[str, Found] = {}
        for source in [*self.modules.conftests(module), module]:
            for name, (origin, item) in self.modules.names(source).items():
                if is_fixture(item):
                    known[_fixture_name(item, name)] = (origin, item)
        for origin, ancestor in reversed(lineage):
            known |= {_fixture_name(one, one.name): (origin, one) for one in ancestor.members() if is_fixture(one)}
        return known


def is_fixture(item: Definition) -> bool:
    """Whether a definition is a fixture."""
    return not item.is_class and any(_FIXTURE.match(decorator) for decorator in item.decorators)


def _filled(source: str) -> set[str]:
    """The argument names that calls of `parametrize` fill, where they are written out."""
    names: set[str] = set()
    for part in _CALL.split(source)[1:]:
        first = re.sub(r"^\s*(argnames\s*=\s*)?", "", part)
        listed = re.match(r"[\[(]([^\])]*)[\])]|([\"'][^\"']*[\"'])", first)
        names |= set(re.findall(r"\w+", listed.group())) if listed else set()
    return names


def _pytestmark(module: Module) -> str:
    """What a file assigns to `pytestmark`, which holds for all its tests."""
    return text(module.bindings.get("pytestmark"))


def _is_autouse(item: Definition) -> bool:
    return any(re.search(r"autouse\s*=\s*True", decorator) for decorator in item.decorators)


def _fixture_name(item: Definition, name: str) -> str:
    renamed = next((match.group(1) for one in item.decorators if (match := _FIXTURE_NAME.search(one))), None)
    return renamed or name
