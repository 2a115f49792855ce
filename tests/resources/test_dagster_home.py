"""The folder of Dagster's own records: what is damaged there is one line that says what may be deleted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.dagster_home import DagsterHomeError, explaining_storage_errors, open_instance

DATABASES = ("history/runs.db", "history/runs/index.db", "schedules/schedules.db")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that Dagster has used once."""
    home = tmp_path_factory.mktemp("made") / "dagster"
    open_instance(home).dispose()
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder; DAGSTER_HOME is as before afterwards."""
    monkeypatch.setenv("DAGSTER_HOME", "")
    return Path(shutil.copytree(made, tmp_path / "dagster"))


def complaint(home: Path) -> str:
    with pytest.raises(DagsterHomeError) as error:
        open_instance(home)
    assert "\n" not in str(error.value)
    return str(error.value)


def overwrite(path: Path) -> None:
    path.write_bytes(b"no database " * 500)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoil(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def replace_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [overwrite, cut, spoil, replace_by_a_folder])
@pytest.mark.parametrize("name", DATABASES)
def test_a_damaged_database_is_named_and_may_be_deleted(home: Path, name: str, damage: Callable[[Path], None]) -> None:
    path = home / name
    damage(path)
    message = complaint(home)
    assert message.startswith(f"{path}: is damaged (")
    assert "delete it and run again" in message
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    open_instance(home).dispose()


def test_a_database_of_another_form_is_not_called_damaged(home: Path) -> None:
    path = home / DATABASES[0]
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("create table alembic_version (version_num text)")
        connection.execute("insert into alembic_version values ('other')")
    assert complaint(home).startswith(f"{home}: Dagster's record of runs cannot be used (no such table")


@pytest.mark.parametrize("content", [b"\xff", b"[", b"a: b: c", b"- 1", b"5", b"\x00", b"nonsense: 1", b"telemetry: 5"])
def test_settings_that_dagster_cannot_read_are_one_line(home: Path, content: bytes) -> None:
    (home / "dagster.yaml").write_bytes(content)
    message = complaint(home)
    assert message.startswith(f"{home / 'dagster.yaml'}: cannot be used (")
    assert message.endswith("mend it, or delete it to have it made anew")


def test_damage_during_a_run_is_explained_too(home: Path) -> None:
    with open_instance(home) as instance:
        overwrite(home / DATABASES[0])
        with pytest.raises(DagsterHomeError, match="is damaged"), explaining_storage_errors(home):
            instance.get_runs()


def test_a_file_in_place_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "dagster").touch()
    assert "cannot be used (File exists)" in complaint(tmp_path / "dagster")
