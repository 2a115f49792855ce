"""The tree of objects: kinds, keys, heads and texts, and what becomes of files that are not as they should be."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from mattools_assets.source.errors import SourceError
from mattools_assets.source.project import Project, analyse
from mattools_assets.source.reading import decode
from mattools_assets.source.specification import parse_specification
from mattools_assets.source.tree import CodeObject

# Shared with the live tests, and no package installs it.
sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.mattools_assets.source.independent import check_against_standard_library

EVERY_KIND = '''
"""The module."""
@decorate(
    1
)
@other.one
async def top(a: int, /, b="x", *args: str, c: list[int] = (), **rest) -> dict[str, int]:
    """First.

        Indented.
    """
    def nested():
        class Inner:
            def method(self):
                def local(): pass
    # a comment that belongs to no one


class Outer(Base, metaclass=Meta):
    r"""Raw \\d."""
    x = 1
    class Deep:
        @property
        def value(self): return 1
        @value.setter
        def value(self, new): pass
'''


def analysed(folder: Path, text: str | bytes, name: str = "m.py") -> Project:
    data = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(data)
    return analyse(folder)


def documented(project: Project) -> list[CodeObject]:
    return [item for item in project.objects if item.kind.is_documented]


def test_every_kind_with_its_key(tmp_path: Path) -> None:
    found = [
        (item.kind.value, item.qualified_name, item.start_line, item.end_line)
        for item in documented(analysed(tmp_path, EVERY_KIND))
    ]
    assert found == [
        ("function", "top", 7, 15),
        ("nested_function", "top.nested", 12, 15),
        ("class", "top.nested.Inner", 13, 15),
        ("method", "top.nested.Inner.method", 14, 15),
        ("function", "top.nested.Inner.method.local", 15, 15),
        ("class", "Outer", 19, 26),
        ("class", "Outer.Deep", 22, 26),
        ("method", "Outer.Deep.value", 24, 24),
        ("method", "Outer.Deep.value", 26, 26),
    ]


def test_heads_docstrings_and_code(tmp_path: Path) -> None:
    project = analysed(tmp_path, EVERY_KIND)
    top, outer = (next(item for item in project.objects if item.name == name) for name in ("top", "Outer"))
    assert top.decorators == ("decorate( 1 )", "other.one")
    assert top.signature == ('async def top(a: int, /, b="x", *args: str, c: list[int] = (), **rest) -> dict[str, int]')
    assert top.docstring == "First.\n\nIndented."
    assert top.code.startswith("@decorate(\n    1\n)\n@other.one\nasync def top")
    assert top.code.endswith("def local(): pass")
    assert (outer.signature, outer.docstring) == ("class Outer(Base, metaclass=Meta)", r"Raw \d.")


def test_the_tree_goes_from_package_to_method(tmp_path: Path) -> None:
    (tmp_path / "p" / "q").mkdir(parents=True)
    project = analysed(tmp_path, "class A:\n  def f(self): pass\n", "p/q/m.py")
    chain, item = [], project.objects[-1]
    while item is not None:
        chain.append((item.kind.value, item.name))
        item = project.objects[item.parent] if item.parent is not None else None
    assert chain == [("method", "f"), ("class", "A"), ("file", "m.py"), ("folder", "q"), ("package", "p")]


def test_python_2_and_broken_files_are_parsed_as_far_as_they_go(tmp_path: Path) -> None:
    text = (
        'def old(x):\n    print "hello"\n    try: pass\n    except E, e: pass\n\n'
        "def new(): pass\n\nclass C:\n    def (\n    def kept(self): pass\n"
    )
    project = analysed(tmp_path, text)
    names = {item.qualified_name for item in documented(project)}
    assert {"old", "new"} <= names
    assert "kept" in {item.name for item in documented(project)}
    assert [(problem.kind.value, problem.file) for problem in project.problems] == [("syntax", "m.py")]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("x = 1\n\ndef half(:\n    pass\n", 3, "1 place is not Python 3"),
        ("x = 1\ny = = 2\nz = 3\nw = = 4\n", 2, "2 places are not Python 3"),
    ],
)
def test_a_syntax_error_is_found_on_its_line(tmp_path: Path, text: str, line: int, told: str) -> None:
    (problem,) = analysed(tmp_path, text).problems
    assert (problem.line, problem.message) == (line, f"{told}; the rest of the file is parsed")


def test_two_definitions_on_one_line_keep_apart(tmp_path: Path) -> None:
    """Not Python, but a damaged file can hold it."""
    project = analysed(tmp_path, "def f(): pass def f(): pass\n")
    keys = [item.key for item in documented(project)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        ("# -*- coding: latin-1 -*-\ndef é(): pass\n".encode("latin-1"), "é", None),
        (b"\xef\xbb\xbfdef f(): pass\n", "f", None),
        (b"# coding: no-such-code\ndef f(): pass\n", "f", "encoding"),
        (b"# coding: undefined\ndef f(): pass\n", "f", "encoding"),
        (b"# coding: punycode\ndef f(): pass\n", "f", "encoding"),
        (b"def f():\n    '''\xff\xfe'''\n", "f", "encoding"),
        (b"def f():\r\n    pass\r\ndef g(): pass\r\n", "g", None),
        (b"x = 1\rdef f(): pass\r", "f", None),
        (b"def f(): pass\n\x00\n", "f", "syntax"),
    ],
)
def test_encodings_and_line_ends(tmp_path: Path, data: bytes, name: str, kind: str | None) -> None:
    project = analysed(tmp_path, data)
    assert name in {item.name for item in documented(project)}
    assert [problem.kind.value for problem in project.problems] == ([kind] if kind else [])


def test_every_byte_string_decodes() -> None:
    assert decode(bytes(range(256)))[0] is not None


def test_a_lone_surrogate_reaches_the_table(tmp_path: Path) -> None:
    project = analysed(tmp_path, 'def f():\n    "\\ud800 é"\n')
    assert project.code_objects().column("docstring").to_pylist()[-1] == "\\ud800 é"


def test_paths_that_are_no_utf_8_are_read_and_listed(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has only names in UTF-8")
    for name in (b"m.py", b"n\xff.py"):
        (folder / os.fsdecode(name)).write_text(f"def f(): pass\nx = {len(name)}\n")
    project = analyse(tmp_path)
    names = [r"caf\xe9/m.py", r"caf\xe9/n\xff.py"]
    assert [item["file"] for item in project.code_objects().to_pylist() if item["name"] == "f"] == names
    assert [(row["file"], row["kind"]) for row in project.problem_table().to_pylist()] == [
        (name, "encoding") for name in names
    ]
    assert parse_specification(f"folder:{tmp_path}").identity().startswith("folder:")
    named = parse_specification(f"folder:{folder}")
    assert str(named) == rf"folder:{tmp_path}/caf\xe9"
    assert named.obtain(tmp_path).parts[0].name == r"caf\xe9"


def test_empty_identical_linked_and_hidden_files(tmp_path: Path) -> None:
    for name in ("empty.py", "one.py", "two.py", ".hidden/x.py", "env/lib/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("" if name == "empty.py" else "def f(): pass\n")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "one.py")
    project = analyse(tmp_path)
    assert [file.path for file in project.files] == ["empty.py", "one.py", "two.py"]
    assert {(problem.file, problem.kind.value) for problem in project.problems} == {
        ("empty.py", "empty"),
        ("two.py", "identical"),
        ("link.py", "link"),
    }
    assert len(documented(project)) == 2


def test_a_folder_without_python_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "data.txt").touch()
    with pytest.raises(SourceError, match="no Python file") as caught:
        analyse(tmp_path)
    assert "\n" not in str(caught.value)


def test_any_damage_to_a_file_is_survived(tmp_path: Path) -> None:
    """Cuts, doublings and swaps in this project's own code: every result is a tree with unique keys and its tables."""
    draw = random.Random(5)
    sources = [path.read_text(encoding="utf-8") for path in Path(analyse.__code__.co_filename).parent.glob("*.py")]
    sources.sort()
    pieces = [
        "",
        "(",
        '"' * 3,
        "\n  def (",
        "class",
        "\x00",
        "if x and",
        "\t",
        "}",
        "isinstance(",
        "yield",
        "lambda",
        "*",
    ]
    for _ in range(60):
        text = draw.choice(sources)
        for _ in range(draw.randrange(1, 6)):
            start, end = sorted(draw.choices(range(len(text) + 1), k=2))
            end = min(end, start + 200)
            text = text[:start] + draw.choice([*pieces, text[start:end] * 2]) + text[end:]
        project = analysed(tmp_path, text)
        keys = [item.key for item in documented(project)]
        assert len(set(keys)) == len(keys)
        project.code_objects().validate(full=True)
        project.reference_table().validate(full=True)


@pytest.mark.parametrize("package", ["mattools_assets", "resources"])
def test_this_project_agrees_with_the_standard_library(package: str) -> None:
    check_against_standard_library(Path(__file__).parents[3] / package)
