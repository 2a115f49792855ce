"""`make run` as a user meets it: what it prints, its exit status, and one line for whatever is wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest

from cme_assets import run, schemas
from resources.lake import Lake
from resources.settings import Settings
from tests.fast_graph import bring, fast_settings


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> Callable[[Settings], None]:
    """Set the environment as these settings have it."""

    def be(settings: Settings) -> None:
        monkeypatch.setenv("CONDMAT_DATA", str(settings.data))
        monkeypatch.setenv("CONDMAT_PROFILE", "fast")
        monkeypatch.setenv("CONDMAT_MODELS", str(settings.models_file))
        monkeypatch.delenv("DAGSTER_HOME", raising=False)

    return be


User = Callable[[Settings], None]
Capture = pytest.CaptureFixture[str]


def error_of(capsys: Capture) -> str:
    """The one line that begins with "error"; nothing after it."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert [line.startswith("error: ") for line in lines].count(True) == 1, lines
    assert lines[-1].startswith("error: ")
    assert not any("Traceback" in line for line in lines)
    return lines[-1]


def test_a_run_prints_a_leaderboard_and_a_second_says_that_nothing_was_done(
    made: Settings, user: User, capsys: Capture
) -> None:
    user(made)
    assert run.main([]) == 0
    first = capsys.readouterr()
    assert "reports built" in first.out
    assert "centre/direct/50" in first.out
    assert str(made.page) in first.out
    assert made.page.stat().st_size > 10_000
    links = set(re.findall(r'href="(transcripts/[^"]+)"', made.page.read_text(encoding="utf-8")))
    # Three entrants, each with its index and its page of each category.
    assert len(links) == 3 * 3
    assert all((made.page.parent / link).is_file() for link in links)
    assert run.main([]) == 0
    second = capsys.readouterr()
    assert "Everything is up to date, nothing was done again." in second.out
    assert "centre/direct/50" in second.out
    assert second.err == ""


def test_an_unknown_key_in_the_registry(made: Settings, user: User, capsys: Capture) -> None:
    made.models_file.write_text("models:\n  - {name: centre, provider: reference, colour: red}\n")
    user(made)
    assert run.main([]) == 1
    line = error_of(capsys)
    assert f"{made.models_file}:2: model 'centre', field colour: is no known key" in line


def test_an_unknown_profile(made: Settings, user: User, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    user(made)
    monkeypatch.setenv("CONDMAT_PROFILE", "quick")
    assert run.main([]) == 1
    assert error_of(capsys) == "error: CONDMAT_PROFILE='quick': use one of full, fast"


def test_removed_categories_are_named_at_once_and_deleted_by_one_command(
    tmp_path: Path, made_once: Settings, instance: dg.DagsterInstance, user: User, capsys: Capture
) -> None:
    # Quotes, brackets and spaces mean something to the shell and to find, an ending in common to careless patterns.
    settings = fast_settings(folder_in(tmp_path, "group's [A] data"))
    shutil.copytree(made_once.lake, settings.lake)
    before = files(settings)
    removed = ("Z99", "Z991", "z 9")
    for category in removed:
        for path in sorted(settings.lake.rglob("category=A1")):
            shutil.copytree(path, path.with_name(f"category={category}"))
        for table in ("code_runs", "react_scores"):
            agents = settings.lake / table / "model=org%2Fsome model" / f"category={category}"
            shutil.copytree(settings.lake / "problems/category=A1", agents)
    shutil.copytree(settings.lake / "problems/category=A1", settings.lake / "qa_answers/model=category=Z99")
    others = files(settings).keys() - {path for path in files(settings) if path.parent.name[9:] in removed}
    user(settings)
    assert run.main([]) == 1
    line = error_of(capsys)
    assert line.startswith(f"error: {settings.lake}: has files of 'Z99', 'Z991', 'z 9', not in the catalogue; put what")
    subprocess.run(["sh", "-c", line.split("delete the files by: ")[1]], check=True)
    assert files(settings).keys() == others
    bring(settings, instance)
    assert {path: files(settings)[path] for path in before} == before


def test_a_folder_that_is_linked_is_emptied_too(made: Settings, user: User, capsys: Capture, tmp_path: Path) -> None:
    shutil.copytree(made.lake / "problems/category=A1", made.lake / "problems/category=Z99")
    made.lake.rename(tmp_path / "elsewhere")
    made.lake.symlink_to(tmp_path / "elsewhere")
    user(made)
    assert run.main([]) == 1
    subprocess.run(["sh", "-c", error_of(capsys).split("delete the files by: ")[1]], check=True)
    assert not (made.lake / "problems/category=Z99").exists()
    assert (made.lake / "problems/category=A1").exists()


@pytest.mark.parametrize("command", ["cme_assets.run", "cme_assets.estimate"])
def test_a_catalogue_that_cannot_be_used_is_one_line(made: Settings, user: User, command: str) -> None:
    user(made)
    before = files(made)
    spoilt = (
        "import sys; from cme_assets.tasks import a_fermi_edge; a_fermi_edge.CATEGORIES *= 2; sys.argv = ['']; "
        f"from {command} import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", spoilt], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: category 'A1': is there twice, as 'Fermi edge' and 'Fermi edge'; give one")
    assert done.stderr.count("\n") == 1
    assert files(made) == before


@pytest.mark.parametrize("folder", ["problems", "prompts", "direct_responses/model=argmax"])
def test_a_truncated_file_is_named_and_the_rest_is_kept(
    made: Settings, instance: dg.DagsterInstance, user: User, capsys: Capture, folder: str
) -> None:
    path = made.lake / folder / "category=B1/data.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    before = files(made)
    user(made)
    assert run.main([]) == 1
    line = error_of(capsys)
    assert line.startswith(f"error: {path}: cannot be read as Parquet")
    assert line.endswith("delete this file and run again, only this partition is then made anew")
    assert files(made) == before
    path.unlink()
    bring(made, instance)
    assert set(files(made)) == set(before)


def test_a_corrupt_table_is_named_and_what_came_before_is_kept(
    made: Settings, instance: dg.DagsterInstance, user: User, capsys: Capture, tmp_path: Path
) -> None:
    lake, key = Lake(made.lake), {"category": "B1"}
    path = Path(str(lake.path(schemas.PROMPTS, key)))
    whole = pq.ParquetFile(path).schema_arrow.metadata
    rows = lake.read(schemas.PROMPTS, key).to_pylist()
    rows[2]["exhibits"][3]["table"] = rows[2]["exhibits"][3]["table"].replace("\t", " ", 1)
    pq.write_table(schemas.PROMPTS.rows(rows).replace_schema_metadata(whole), path)
    fast_settings(tmp_path, ("centre", "argmax", "example-mean", "example-position"))
    user(made)
    assert run.main([]) == 1
    line = error_of(capsys)
    assert line.startswith(f"error: {path}: table of B1-L2: line ")
    assert line.endswith("delete this file and run again")
    assert (made.lake / "direct_responses/model=example-position/category=A1/data.parquet").exists()
    assert not (made.lake / "direct_responses/model=example-position/category=B1/data.parquet").exists()
    path.unlink()
    bring(made, instance)
    assert (made.lake / "direct_scores/model=example-position/category=B1/data.parquet").exists()


def test_a_data_folder_that_cannot_be_written(tmp_path: Path, user: User, capsys: Capture) -> None:
    settings = fast_settings(tmp_path)
    settings.data.write_text("a file where the folder should be")
    user(settings)
    assert run.main([]) == 1
    line = error_of(capsys)
    assert str(settings.data) in line
    assert "make the folder writable or point DAGSTER_HOME or CONDMAT_DATA at another one" in line


def test_a_lake_that_cannot_be_written(tmp_path: Path, user: User, capsys: Capture) -> None:
    settings = fast_settings(tmp_path)
    settings.data.mkdir()
    settings.lake.write_text("a file where the folder should be")
    user(settings)
    assert run.main([]) == 1
    line = error_of(capsys)
    assert line.startswith(f"error: {settings.lake}/problems/category=A1/data.parquet: cannot be written")


def folder_in(folder: Path, name: str) -> Path:
    """A new folder."""
    made = folder / name
    made.mkdir()
    return made


def files(settings: Settings) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in settings.lake.rglob("*.parquet")}
