"""What of a folder pytest collects: its default names, or those that the suite's own settings give."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

_BUILT_IN = """
    cache capfd capfdbinary caplog capsys capsysbinary capteesys doctest_namespace monkeypatch pytestconfig pytester
    record_property record_testsuite_property record_xml_attribute recwarn request subtests testdir tmp_path
    tmp_path_factory tmpdir tmpdir_factory
"""
BUILT_IN_FIXTURES = frozenset(_BUILT_IN.split())
"""The fixtures that pytest itself brings."""

# The first that has a section counts, as pytest reads them.
_SECTIONS = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))


@dataclass(frozen=True)
class Rules:
    """Patterns of names. `doctests` also collects docstrings of every module."""

    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    classes: tuple[str, ...] = ("Test",)
    functions: tuple[str, ...] = ("test",)
    doctests: bool = False

    def is_test_file(self, name: str) -> bool:
        """Whether a file of that name is collected."""
        return any(fnmatch(name, pattern) for pattern in self.files)

    def is_test_class(self, name: str) -> bool:
        """Whether a class that is no `unittest.TestCase` is collected."""
        return _fits(name, self.classes)

    def is_test_function(self, name: str) -> bool:
        """Whether a function or method is collected."""
        return _fits(name, self.functions)


def read_rules(root: Path, doctests: bool = False) -> Rules:
    """The rules of the suite in `root`: from the settings of pytest in that folder, or the default ones."""
    found = _settings(root)
    default = Rules()
    return Rules(
        files=_words(found.get("python_files")) or default.files,
        classes=_words(found.get("python_classes")) or default.classes,
        functions=_words(found.get("python_functions")) or default.functions,
        doctests=doctests or "--doctest-modules" in _words(found.get("addopts")),
    )


def _settings(root: Path) -> dict[str, object]:
    project = root / "pyproject.toml"
    for name, section in _SECTIONS[:2]:
        if (root / name).is_file():
            return _ini(root / name, section)
    if project.is_file():
        tool = tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {}).get("pytest", {})
        if "ini_options" in tool:
            return dict(tool["ini_options"])
    for name, section in _SECTIONS[2:]:
        if (root / name).is_file() and (found := _ini(root / name, section)):
            return found
    return {}


def _ini(path: Path, section: str) -> dict[str, object]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(path.read_text(encoding="utf-8"))
    return dict(parser[section]) if parser.has_section(section) else {}


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(map(str, value))
    return tuple(shlex.split(str(value))) if value else ()


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    """A pattern is a beginning, unless it holds a wildcard."""
    return any(name.startswith(each) or (set(each) & set("*?[") and fnmatch(name, each)) for each in patterns)
