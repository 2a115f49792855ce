"""What a suite leaves to plugins, hooks and settings: followed where it is written out, and else listed."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mattools_assets.triplets.unit_tests import OpenEnd, Suite, UnitTest
from tests.mattools_assets.triplets.test_unit_tests import collected_by_pytest

FILES = {
    "pytest.ini": """
        [pytest]
        python_files = check_*.py
        python_classes = Check *Suite
        python_functions = check test
        """,
    "conftest.py": """
        import unittest

        pytest_plugins = ["helpers.fixtures"]

        def pytest_generate_tests(metafunc):
            if "size" in metafunc.fixturenames:
                metafunc.parametrize("size", [1, 2])
            for name, values in getattr(metafunc.module, "TABLE", {}).items():
                if name in metafunc.fixturenames:
                    metafunc.parametrize(name, values)
        """,
    "helpers/__init__.py": "",
    "helpers/fixtures.py": """
        import pytest

        @pytest.fixture
        def from_plugin():
            return 1
        """,
    "helpers/shared.py": """
        def check_shared(everywhere):
            pass
        """,
    "check_things.py": '''
        from numbers import Number
        from helpers.shared import *
        from math import *
        import pytest

        TABLE = {"colour": ["red"]}

        pytestmark = pytest.mark.parametrize("everywhere", [1])

        def check_sizes(size, colour, everywhere, from_plugin, tmp_path):
            """Sizes.

            >>> 1 + 1
            2
            """

        async def test_later(everywhere):
            pass

        class CheckIt:
            def pytest_generate_tests(self, metafunc):
                metafunc.parametrize("side", ["left", "right"])

            def check_side(self, side, everywhere):
                pass

            def not_collected(self):
                pass

        class MySuite(Number):
            def check_inherited(self, everywhere):
                pass

        class TestNotCollected:
            def check_nothing(self):
                pass
        ''',
    "test_not_collected.py": "def check_it(): pass",
    "test_words.txt": """
        Words

        >>> 'a' + 'b'
        'ab'
        """,
    "deep/conftest.py": """
        collect_ignore_glob = ["nothing*"]

        def pytest_collection_modifyitems(items):
            items.reverse()
        """,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(content))
    return tmp_path


@pytest.fixture
def tests(root: Path) -> dict[str, UnitTest]:
    return {test.name: test for test in Suite(root).tests()}


def test_names_follow_the_suites_own_settings(root: Path) -> None:
    for options in ((), ("--doctest-modules",)):
        ours = {(test.file, test.name) for test in Suite(root, doctests=bool(options)).tests()}
        assert ours == collected_by_pytest(root, *options)
    assert ("check_things.py", "check_things.check_sizes") in ours
    assert ("test_words.txt", "test_words.txt") in ours


def test_generated_parameters_and_plugins_fixtures(tests: dict[str, UnitTest]) -> None:
    test = tests["check_sizes"]
    assert [fixture.name for fixture in test.fixtures] == ["from_plugin"]
    assert test.fixtures[0].file == "helpers/fixtures.py"
    assert test.built_in == ("tmp_path",)
    # Its name is not written out in the hook: listed, beside the hook that may fill it.
    assert test.unresolved == ("colour",)
    assert "metafunc.module" in test.generated_by[0]
    assert any("everywhere" in each for each in test.parametrisation)
    side = tests["CheckIt::check_side"]
    assert side.unresolved == ()
    assert len(side.generated_by) == 2
    assert tests["test_later"].is_async


def test_what_only_a_run_would_tell_is_listed(root: Path) -> None:
    ends = set(Suite(root).open_ends())
    assert ends == {
        OpenEnd("check_things.py", "MySuite", "its base Number is defined outside the suite"),
        OpenEnd("check_things.py", "math", "all names are imported from outside the suite"),
        OpenEnd("deep/conftest.py", "collect_ignore_glob", "decides by running what is collected"),
        OpenEnd("deep/conftest.py", "pytest_collection_modifyitems", "decides by running what is collected"),
    }


def test_doctests_have_their_line_and_their_needs(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(
        dedent('''
        """Sums.

        >>> total([1, 2])
        3
        """
        import math

        def total(values):
            return math.fsum(values)

        class Adder:
            @property
            def sum(self):
                """
                >>> Adder().sum
                0
                """
                return total([])

            def quiet(self):
                """Says nothing."""
        ''')
    )
    found = {test.name: test for test in Suite(tmp_path, doctests=True).tests()}
    assert set(found) == {"sums", "sums.Adder.sum"}
    assert (found["sums"].line, found["sums.Adder.sum"].line) == (4, 16)
    assert [need.splitlines()[0] for need in found["sums"].needs] == ["import math", "def total(values):"]
    assert {test.kind for test in found.values()} == {"doctest"}


def test_a_changed_fixture_changes_the_test(root: Path, tests: dict[str, UnitTest]) -> None:
    path = root / "helpers/fixtures.py"
    path.write_text(path.read_text().replace("return 1", "return 2"))
    changed = {test.name: test for test in Suite(root).tests()}
    assert changed["check_sizes"].hash != tests["check_sizes"].hash
    assert changed["test_later"].hash == tests["test_later"].hash
