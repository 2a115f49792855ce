"""Sources from folders, archives and git; what is wrong with one is said in a line."""

from __future__ import annotations

import json
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest

from mattools_assets.source import obtain
from mattools_assets.source.errors import SourceError
from mattools_assets.source.obtain import Package, from_checkout, from_folder, from_wheels
from mattools_assets.source.project import analyse
from mattools_assets.source.specification import DEFAULT, parse_specification
from mattools_assets.source.unpack import unpack_python


def archive(folder: Path, files: dict[str, bytes], name: str = "a.whl") -> Path:
    with zipfile.ZipFile(folder / name, "w") as opened:
        for path, data in files.items():
            opened.writestr(path, data)
    return folder / name


def refused(call, *arguments) -> str:
    with pytest.raises(SourceError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_only_python_files_leave_the_archive(tmp_path: Path) -> None:
    links = unpack_python(archive(tmp_path, {"p/__init__.py": b"x", "p/data.bin": b"y"}), tmp_path / "out")
    assert links == []
    assert [path.relative_to(tmp_path).as_posix() for path in (tmp_path / "out").rglob("*.*")] == ["out/p/__init__.py"]


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil.py", "p/../../evil.py", "..\\evil.py", "C:evil.py"])
def test_unsafe_paths_are_refused(tmp_path: Path, name: str) -> None:
    message = refused(unpack_python, archive(tmp_path, {name: b"x"}), tmp_path / "out")
    assert "outside the folder" in message
    assert not list(tmp_path.rglob("evil.py"))


def test_an_archive_without_sources_and_one_cut_short(tmp_path: Path) -> None:
    assert "no Python file" in refused(unpack_python, archive(tmp_path, {"p/x.so": b"x"}), tmp_path / "out")
    whole = archive(tmp_path, {"p/x.py": b"pass\n" * 1000}, "b.whl")
    whole.write_bytes(whole.read_bytes()[:-30])
    assert "not a whole zip archive" in refused(unpack_python, whole, tmp_path / "out")


def test_damaged_contents_are_noticed(tmp_path: Path) -> None:
    path = archive(tmp_path, {"p/x.py": b"pass # something\n"})
    path.write_bytes(path.read_bytes().replace(b"something", b"otherwise"))
    assert "not a whole zip archive" in refused(unpack_python, path, tmp_path / "out")


KINDS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_byte_is_one_line_however_the_archive_is_packed(tmp_path: Path, kind: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w", kind) as opened:
        opened.writestr("x.py", bytes(range(32)) * 8)
    whole = (tmp_path / "a.whl").read_bytes()
    said = set()
    for place in range(34, 70):
        (tmp_path / "a.whl").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            unpack_python(tmp_path / "a.whl", tmp_path / f"out-{place}")
        except SourceError as error:
            said.add(str(error).partition(" (")[0])
    assert said == {"a.whl: not a whole zip archive"}


def test_a_name_that_is_no_utf_8_is_one_line(tmp_path: Path) -> None:
    path = archive(tmp_path, {"é.py": b"pass\n"})
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xfe"))
    assert "not a whole zip archive" in refused(unpack_python, path, tmp_path / "out")


def test_two_packages_with_one_file(tmp_path: Path) -> None:
    unpack_python(archive(tmp_path, {"p/x.py": b"1"}), tmp_path / "out")
    unpack_python(archive(tmp_path, {"p/x.py": b"1"}), tmp_path / "out")
    assert "list only one" in refused(unpack_python, archive(tmp_path, {"p/x.py": b"2"}), tmp_path / "out")


def test_links_are_named_and_left_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as opened:
        entry = zipfile.ZipInfo("p/link.py")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        opened.writestr(entry, "/etc/passwd")
    assert unpack_python(tmp_path / "a.zip", tmp_path / "out") == ["p/link.py"]
    assert not (tmp_path / "out").exists()


def test_a_folder_inside_a_package_keeps_its_full_name(tmp_path: Path) -> None:
    (tmp_path / "p" / "q").mkdir(parents=True)
    for name in ("p/__init__.py", "p/q/__init__.py", "p/q/m.py"):
        (tmp_path / name).write_text("def f(): pass\n")
    source = from_folder(tmp_path / "p" / "q")
    assert (source.root, source.under) == (tmp_path, "p/q")
    assert [file.path for file in analyse(source.root, source.under).files] == ["p/q/__init__.py", "p/q/m.py"]


def test_folders_that_are_none(tmp_path: Path) -> None:
    assert "no such folder" in refused(from_folder, tmp_path / "absent")
    assert "no Python file" in refused(from_folder, tmp_path)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_commit_is_read_not_the_work_tree(tmp_path: Path) -> None:
    repository = tmp_path / "Repo"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "m.py").write_text("def first(): pass\n")
    (repository / "link.py").symlink_to("m.py")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    commit = git(repository, "rev-parse", "HEAD")
    (repository / "m.py").write_text("def second(): pass\n")
    source = from_checkout(repository, "HEAD", tmp_path / "cache")
    assert source.parts == (obtain.Part("Repo", commit, ""),)
    project = analyse(source.root, source.under, source.links)
    assert [item.name for item in project.objects] == ["m.py", "first"]
    assert [(problem.file, problem.kind.value) for problem in project.problems] == [("link.py", "link")]
    assert "no commit 'v9'" in refused(from_checkout, repository, "v9", tmp_path / "cache")
    assert "no commit" in refused(from_checkout, repository, "--all", tmp_path / "cache")
    (tmp_path / "plain").mkdir()
    assert "not a git repository" in refused(from_checkout, tmp_path / "plain", "HEAD", tmp_path / "cache")


@pytest.mark.parametrize("package", [Package("--user", "1"), Package("x", "1 --pre"), Package("", "1")])
def test_what_is_no_package_never_reaches_pip(tmp_path: Path, package: Package) -> None:
    assert "not a package and version" in refused(from_wheels, [package], tmp_path)


def test_what_was_obtained_is_not_fetched_again(tmp_path: Path) -> None:
    place = tmp_path / "some-name-1.0"
    (place / "tree").mkdir(parents=True)
    (place / "tree" / "m.py").write_text("x = 1\n")
    facts = {"origin": "pypi", "parts": [{"name": "Some_Name", "version": "1.0", "sha256": "ab"}], "links": []}
    (place / "manifest.json").write_text(json.dumps(facts))
    source = from_wheels([Package("Some_Name", "1.0")], tmp_path)
    assert source.parts == (obtain.Part("Some_Name", "1.0", "ab"),)
    assert source.root == place / "tree"


def test_a_line_names_a_source(tmp_path: Path) -> None:
    assert parse_specification("") == DEFAULT
    assert str(DEFAULT) == "pymatgen==2024.8.9,pymatgen-analysis-defects==2024.7.19"
    assert parse_specification(str(DEFAULT)) == DEFAULT
    assert parse_specification(f"folder:{tmp_path}").folder == tmp_path
    named = parse_specification(f"git:{tmp_path}@v1@2")
    assert (named.folder, named.commit) == (tmp_path.with_name(f"{tmp_path.name}@v1"), "2")


@pytest.mark.parametrize(
    "text", ["numpy", "numpy==", "numpy==2.0,scipy", "folder:", "git:/somewhere", "hg:/somewhere@1"]
)
def test_a_line_that_names_none(text: str) -> None:
    with pytest.raises(SourceError, match=r"CONDMAT_TOOL_SOURCE=.*: names no source; write it as") as caught:
        parse_specification(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("second", ["pymatgen==2024.8.9", "pymatgen==2023.1", "PyMatGen==2024.8.9"])
def test_a_line_that_names_a_package_twice(second: str) -> None:
    message = refused(parse_specification, f"pymatgen==2024.8.9,{second}")
    assert message.startswith("CONDMAT_TOOL_SOURCE=")
    assert message.endswith(f"lists {second.partition('=')[0]} more than once; list each package once")


def test_a_folders_identity_is_its_contents(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    named = parse_specification(f"folder:{tmp_path}")
    before = named.identity()
    assert named.identity() == before
    (tmp_path / "m.py").write_text("x = 2\n")
    assert named.identity() != before
    assert DEFAULT.identity() == str(DEFAULT)
