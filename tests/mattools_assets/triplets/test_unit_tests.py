"""Extraction against pytest's own collection, on suites that installed packages ship, and on a suite of our own."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from mattools_assets.triplets.unit_tests import Suite, UnitTest

# Class-based with inheritance and fixtures; parametrised; async with a conftest; doctests beside tests.
SHIPPED = ("networkx.utils.tests", "numpy.polynomial.tests", "graphene.types.tests", "graphene.relay.tests")


def folder_of(package: str) -> Path:
    if importlib.util.find_spec(package.split(".")[0]) is None:
        pytest.skip(f"{package} is not installed")
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


# Modules with docstrings, beside tests of other kinds.
WITH_DOCTESTS = ("networkx.utils", "numpy.polynomial", "lmfit", "graphene.utils")


def collected_by_pytest(root: Path, *options: str) -> set[tuple[str, str]]:
    """(file, name without parameters) of all that pytest collects, in a process of its own without our settings."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    # An ini file in the suite itself counts, ours above it does not.
    own = next((name for name in ("pytest.ini", "tox.ini") if (root / name).is_file()), None)
    command += ["-c", str(root / own) if own else "/dev/null", "--rootdir", str(root), *options, str(root)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    lines = [line for line in run.stdout.splitlines() if "::" in line]
    assert lines, run.stdout + run.stderr
    found = set()
    for line in lines:
        file, _, name = line.partition("::")
        found.add((file, re.sub(r"\[.*", "", name)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("package", SHIPPED)
def test_equals_pytests_collection(package: str) -> None:
    root = folder_of(package)
    ours = {(test.file, test.name) for test in Suite(root).tests()}
    assert ours == collected_by_pytest(root)
    assert len(ours) > 50


@pytest.mark.slow
@pytest.mark.parametrize("package", WITH_DOCTESTS)
def test_equals_pytests_collection_of_doctests(package: str) -> None:
    root = folder_of(package)
    ours = {(test.file, test.name) for test in Suite(root, doctests=True).tests()}
    assert ours == collected_by_pytest(root, "--doctest-modules", "--import-mode=prepend")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    files = {
        "conftest.py": """
            import json
            from pathlib import Path
            import pytest

            HERE = Path(__file__).parent

            @pytest.fixture(scope="session")
            def folder():
                return HERE / "data"

            @pytest.fixture
            def crystal(folder):
                return json.loads((folder / "gan.json").read_text())

            @pytest.fixture
            def shadowed():
                return "root"
            """,
        "data/gan.json": "{}",
        "data/unused.json": "{}",
        "deep/conftest.py": """
            import pytest

            @pytest.fixture
            def shadowed(shadowed_base):
                return "deep"

            @pytest.fixture(name="shadowed_base")
            def _base():
                return 1

            @pytest.fixture(autouse=True)
            def always():
                yield
            """,
        "deep/test_things.py": """
            import math
            import unittest
            from dataclasses import dataclass as record
            import pytest

            LIMIT = 3
            TWICE = LIMIT * 2
            UNUSED = 4

            def helper(x):
                return math.sqrt(x) + TWICE

            def unused_helper():
                return UNUSED

            @pytest.mark.parametrize(("x", "y"), [(1, 2), (3, 4)])
            @pytest.mark.parametrize("z", [1])
            def test_parametrised(x, y, z, crystal, tmp_path):
                assert helper(x) < 9

            async def test_async(shadowed):
                assert shadowed

            class Base:
                def test_inherited(self):
                    assert record

            class TestChild(Base):
                limit = LIMIT

                @pytest.fixture
                def own(self, shadowed):
                    return 1

                def test_own(self, own):
                    assert self.limit

                def helper(self):
                    pass

                class TestInner:
                    def test_deep(self):
                        pass

            class TestWithConstructor:
                def __init__(self):
                    pass

                def test_not_collected(self):
                    pass

            class TestHidden:
                __test__ = False

                def test_not_collected(self):
                    pass

            class Cases(unittest.TestCase):
                def testOld(self):
                    pass

            if LIMIT:
                def test_inside_if():
                    pass
            """,
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(content))
    return tmp_path


@pytest.fixture
def tests(suite: Path) -> dict[str, UnitTest]:
    return {test.name: test for test in Suite(suite).tests()}


def test_names(tests: dict[str, UnitTest], suite: Path) -> None:
    assert set(tests) == {
        "test_parametrised",
        "test_async",
        "TestChild::test_inherited",
        "TestChild::test_own",
        "TestChild::TestInner::test_deep",
        "Cases::testOld",
        "test_inside_if",
    }
    assert {(test.file, test.name) for test in tests.values()} == collected_by_pytest(suite)


def test_needs(tests: dict[str, UnitTest]) -> None:
    test = tests["test_parametrised"]
    assert [need.splitlines()[0] for need in test.needs] == [
        "import math",
        "import pytest",
        "LIMIT = 3",
        "TWICE = LIMIT * 2",
        "def helper(x):",
    ]
    assert len(test.parametrisation) == 2
    assert test.source.startswith("@pytest.mark.parametrize")
    assert "from dataclasses import dataclass as record" in tests["TestChild::test_inherited"].needs


def test_fixtures(tests: dict[str, UnitTest]) -> None:
    test = tests["test_parametrised"]
    assert [(one.name, one.file) for one in test.fixtures] == [
        ("crystal", "conftest.py"),
        ("always", "deep/conftest.py"),
        ("folder", "conftest.py"),
    ]
    assert (test.built_in, test.unresolved) == (("tmp_path",), ())
    crystal, folder = test.fixtures[0], test.fixtures[2]
    assert "import json" in crystal.needs
    assert "HERE = Path(__file__).parent" in folder.needs
    shadowed = {one.name: one for one in tests["test_async"].fixtures}
    assert shadowed["shadowed"].file == "deep/conftest.py"
    assert "def _base" in shadowed["shadowed_base"].source
    assert tests["TestChild::test_own"].fixtures[0].name == "own"
    assert tests["test_async"].is_async


def test_data_files(tests: dict[str, UnitTest]) -> None:
    assert tests["test_parametrised"].data_files == ("data/gan.json",)
    assert tests["test_inside_if"].data_files == ()
