"""Building and swapping: empty lakes, broken files, unchanged inputs, old readers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from dbt_reports.build import build_reports
from dbt_reports.project import ReportsError
from dbt_reports.swap import building_path, replacing
from resources.lake import Lake
from resources.settings import Settings, read_settings
from tests.random_lake import Evaluation, write_scores


def small_lake(folder: Path) -> Settings:
    settings = read_settings({"CONDMAT_DATA": str(folder)})
    write_scores(Lake(str(settings.lake)), Evaluation("one"), categories=("A1", "B1"))
    return settings


def make_database(path: Path, value: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(path) as connection:
        connection.execute(f"create table kept as select {value} as value")


def kept(path: Path) -> int:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute("from kept").fetchall()[0][0]


def test_empty_lake_gives_the_same_empty_tables(tmp_path: Path, reports: duckdb.DuckDBPyConnection) -> None:
    built = build_reports(read_settings({"CONDMAT_DATA": str(tmp_path / "new")}))
    query = "select table_name, column_name, data_type from duckdb_columns() where not internal order by all"
    with duckdb.connect(built.database, read_only=True) as empty:
        assert empty.execute(query).fetchall() == reports.execute(query).fetchall()
        assert empty.execute("select count(*) from cme_leaderboard").fetchall() == [(0,)]
        assert empty.execute("select count(*), count(score) from cme_vs_published").fetchall() == [(14, 0)]


def test_unchanged_lake_is_not_built_again(settings: Settings, reports_database: Path) -> None:
    before = reports_database.stat()
    assert not build_reports(settings).changed
    assert reports_database.stat().st_ino == before.st_ino


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind a process to a processor")
def test_same_digits_on_one_processor(settings: Settings, reports: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    (tmp_path / "lake").symlink_to(settings.lake)
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    try:
        built = build_reports(read_settings({"CONDMAT_DATA": str(tmp_path)}))
    finally:
        os.sched_setaffinity(0, processors)
    with duckdb.connect(built.database, read_only=True) as alone:
        for name in ("cme_leaderboard", "cme_intervals", "cme_by_tier", "cme_by_category", "cme_problem_scores"):
            assert alone.table(name).fetchall() == reports.table(name).fetchall()


@pytest.mark.usefixtures("reports_database")
def test_nothing_outside_the_data_folder(settings: Settings) -> None:
    assert {path.name for path in settings.data.iterdir()} == {"lake", "dbt", "reports.duckdb", "reports.build.lock"}
    project = Path(sys.modules["dbt_reports.build"].__file__ or "").parent
    assert not {"target", "logs", "dbt_packages", ".user.yml"} & {path.name for path in project.iterdir()}


def test_descriptions_are_in_the_file(reports: duckdb.DuckDBPyConnection) -> None:
    for kind in ("tables", "columns"):
        missing = reports.execute(
            f"select table_name from duckdb_{kind}() where not internal and coalesce(comment, '') = ''"
        ).fetchall()
        assert missing == []


def test_truncated_file_is_named_and_the_old_reports_stay(tmp_path: Path) -> None:
    settings = small_lake(tmp_path)
    make_database(settings.reports_database, 7)
    path = settings.lake / "direct_scores" / "model=one" / "category=B1" / "data.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ReportsError) as error:
        build_reports(settings)
    assert str(error.value).startswith(f"{path}: cannot be read as Parquet (")
    assert "delete this file and run again" in str(error.value)
    assert "\n" not in str(error.value)
    assert kept(settings.reports_database) == 7


def test_broken_page_behind_a_good_footer_is_named(tmp_path: Path) -> None:
    settings = small_lake(tmp_path)
    make_database(settings.reports_database, 7)
    path = settings.lake / "direct_scores" / "model=one" / "category=A1" / "data.parquet"
    content = bytearray(path.read_bytes())
    data_ends = pq.read_metadata(path).row_group(0).column(0).data_page_offset + 2000
    content[4:data_ends] = b"\xff" * (data_ends - 4)
    path.write_bytes(content)
    with pytest.raises(ReportsError) as error:
        build_reports(settings)
    assert str(error.value).startswith(f"{path}: cannot be read as Parquet (")
    assert kept(settings.reports_database) == 7
    assert not building_path(settings.reports_database).exists()


def test_an_impossible_score_stops_the_build(tmp_path: Path) -> None:
    settings = small_lake(tmp_path)
    path = settings.lake / "direct_scores" / "model=one" / "category=A1" / "data.parquet"
    rows = pq.read_table(path, partitioning=None)
    place = rows.schema.get_field_index("score")
    pq.write_table(rows.set_column(place, rows.schema.field(place), [[1.5] * len(rows)]), path)
    with pytest.raises(ReportsError, match=r"all_between_0_and_1_cme_scores.* Got 5 results"):
        build_reports(settings)
    assert not settings.reports_database.exists()


def test_command_says_one_line(tmp_path: Path) -> None:
    settings = small_lake(tmp_path)
    path = settings.lake / "direct_scores" / "model=one" / "category=A1" / "data.parquet"
    path.write_text("not Parquet")
    done = subprocess.run(
        [sys.executable, "-m", "dbt_reports.build"],
        env={"CONDMAT_DATA": str(settings.data), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr


def test_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(ReportsError, match=r"cannot be written \(.*\); make the folder writable"):
        build_reports(read_settings({"CONDMAT_DATA": str(tmp_path / "data")}))


def test_open_reader_keeps_its_rows_through_ten_swaps(tmp_path: Path) -> None:
    database = tmp_path / "reports.duckdb"
    make_database(database, 0)
    with duckdb.connect(database, read_only=True) as reader:
        for value in range(1, 11):
            with replacing(database) as building:
                make_database(building, value)
            assert reader.execute("from kept").fetchall() == [(0,)]
            assert read_elsewhere(database) == str(value)


def read_elsewhere(database: Path) -> str:
    """What another process reads, as an analyst's would."""
    program = (
        f"import duckdb; print(duckdb.connect({str(database)!r}, read_only=True).execute('from kept').fetchone()[0])"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip()


def test_failed_block_leaves_the_old_file(tmp_path: Path) -> None:
    database = tmp_path / "reports.duckdb"
    make_database(database, 1)
    with (
        pytest.raises(duckdb.CatalogException),
        replacing(database) as building,
        duckdb.connect(building) as connection,
    ):
        connection.execute("create table kept as select 2 as value; drop table missing")
    assert kept(database) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"reports.duckdb", "reports.build.lock"}


def test_left_over_of_a_killed_build_is_discarded(tmp_path: Path) -> None:
    database = tmp_path / "reports.duckdb"
    building_path(database).write_text("half a database")
    with replacing(database) as building:
        make_database(building, 3)
    assert kept(database) == 3


def test_partial_build_starts_from_the_present_file(tmp_path: Path) -> None:
    database = tmp_path / "reports.duckdb"
    make_database(database, 4)
    with replacing(database, start_from_present=True) as building, duckdb.connect(building) as connection:
        connection.execute("create table added as select 5 as value")
    shutil.copy(database, tmp_path / "copy.duckdb")
    with duckdb.connect(tmp_path / "copy.duckdb", read_only=True) as connection:
        assert connection.execute("from kept, added").fetchall() == [(4, 5)]
