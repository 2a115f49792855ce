"""The lake: files appear whole, come back equal, and say what is wrong in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.content import content_hash
from resources.lake import Column, Lake, LakeError, LakeTable

TABLE = LakeTable(
    "maps",
    "A table with every kind of column.",
    ("model", "category"),
    (
        Column("model", pa.string(), "who"),
        Column("category", pa.string(), "what"),
        Column("number", pa.int64(), "how many", nullable=True),
        Column("values", pa.list_(pa.float64()), "how much"),
        Column("parts", pa.list_(pa.struct([("name", pa.string()), ("answer", pa.list_(pa.float64()))])), "nested"),
        Column("seconds", pa.float64(), "how long", identity=False),
    ),
)
KEY = {"model": "Qwen/Qwen2.5 7B", "category": "A1"}


def row(**changes: Any) -> dict[str, Any]:
    parts = [{"name": "a", "answer": [1.0]}, {"name": "b", "answer": None}]
    return {**KEY, "number": 3, "values": [0.5, float("nan")], "parts": parts, "seconds": 1.0, **changes}


@pytest.fixture(params=["local", "memory"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """A folder, and an object store of fsspec's, which a bucket is too."""
    return Lake(tmp_path / "lake" if request.param == "local" else f"memory://{tmp_path}/lake")


def test_rows_come_back_equal_with_what_was_noted(lake: Lake) -> None:
    rows = TABLE.rows([row(), row(number=None, values=[])])
    stored = lake.write(TABLE, KEY, rows, {"code_version": "2", "category_hash": "ab"})
    assert lake.stored(TABLE, KEY) == stored
    assert stored.provenance == {"code_version": "2", "category_hash": "ab"}
    read = lake.read(TABLE, KEY)
    assert read.schema.equals(TABLE.schema)
    assert TABLE.content_hash(read) == stored.content_hash
    assert read.column("number").to_pylist() == [3, None]
    np.testing.assert_array_equal(read.column("values").to_pylist()[0], [0.5, np.nan])
    assert read.column("parts").to_pylist() == rows.column("parts").to_pylist()


READING = """
import os, sys
from pathlib import Path
from tests.resources.test_lake import KEY, TABLE
from resources.lake import Lake

def threads():
    return len(os.listdir("/proc/self/task"))

lake = Lake(Path(sys.argv[1]))
before = threads()
assert lake.read(TABLE, KEY).num_rows == lake.read(TABLE, KEY, ["number"]).num_rows == 1000
sys.exit(threads() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted as Linux shows them")
def test_reading_starts_no_threads_that_could_outlive_the_interpreter(tmp_path: Path) -> None:
    """pyarrow's own hold Python's buffers, and a process that ends meanwhile is aborted now and then."""
    Lake(tmp_path).write(TABLE, KEY, TABLE.rows([row(number=n) for n in range(1000)]), {})
    done = subprocess.run([sys.executable, "-c", READING, str(tmp_path)], check=False)
    assert done.returncode == 0


def test_partitions_are_folders_that_name_their_keys(lake: Lake) -> None:
    lake.write(TABLE, KEY, TABLE.rows([row()]), {})
    other = {"model": "centre", "category": "B1"}
    lake.write(TABLE, other, TABLE.rows([row(**other)]), {})
    assert lake.path(TABLE, KEY).parts[-4:] == ("maps", "model=Qwen%2FQwen2.5 7B", "category=A1", "data.parquet")
    assert lake.keys(TABLE) == [KEY, other]
    assert lake.read_all(TABLE, ["model"]).to_pylist() == [{"model": KEY["model"]}, {"model": "centre"}]


def test_an_empty_lake_has_tables_without_rows(lake: Lake) -> None:
    assert lake.keys(TABLE) == []
    assert lake.read_all(TABLE).schema.equals(TABLE.schema)
    assert lake.stored(TABLE, KEY) is None
    with pytest.raises(LakeError, match=r"data\.parquet: is missing; materialize it first"):
        lake.read(TABLE, KEY)


def test_a_second_write_replaces_the_first_and_leaves_nothing_else(lake: Lake) -> None:
    lake.write(TABLE, KEY, TABLE.rows([row()]), {})
    lake.write(TABLE, KEY, TABLE.rows([row(number=7)]), {})
    assert lake.read(TABLE, KEY).column("number").to_pylist() == [7]
    assert [path.name for path in lake.path(TABLE, KEY).parent.iterdir()] == ["data.parquet"]


def test_duckdb_reads_the_keys_as_columns(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.write(TABLE, KEY, TABLE.rows([row()]), {})
    pattern = str(tmp_path / "maps" / "*" / "*" / "*.parquet")
    query = f"select model, category from read_parquet('{pattern}', hive_partitioning = false)"
    assert duckdb.sql(query).fetchall() == [(KEY["model"], KEY["category"])]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (pa.table({"model": ["a"]}), "columns differ from the schema: category, number, parts, seconds, values"),
        (TABLE.rows([row()]).cast(TABLE.schema).set_column(2, "number", pa.array([1.0])), "schema: number"),
        (pa.Table.from_pylist([row(values=None)], schema=TABLE.schema), "empty values in values"),
    ],
)
def test_rows_of_another_form_are_refused_and_the_old_file_stays(tmp_path: Path, rows: pa.Table, fault: str) -> None:
    lake = Lake(tmp_path)
    lake.write(TABLE, KEY, TABLE.rows([row()]), {})
    with pytest.raises(LakeError, match=fault):
        lake.write(TABLE, KEY, rows, {})
    assert lake.read(TABLE, KEY).num_rows == 1


def test_rows_with_a_forgotten_or_a_foreign_column_are_refused() -> None:
    with pytest.raises(ValueError, match="'extra'"):
        TABLE.rows([row(extra=1)])


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_truncated_file_is_one_line_with_its_name_and_the_mend(tmp_path: Path, keep: int) -> None:
    lake = Lake(tmp_path)
    lake.write(TABLE, KEY, TABLE.rows([row()]), {})
    path = Path(str(lake.path(TABLE, KEY)))
    path.write_bytes(path.read_bytes()[:keep])
    for read in (lake.read, lake.stored):
        with pytest.raises(LakeError) as error:
            read(TABLE, KEY)
        assert str(error.value).startswith(f"{path}: cannot be read as Parquet")
        assert str(error.value).endswith("delete this file and run again, only this partition is then made anew")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "folders",
    [
        "model=%ff/category=A1",
        "model=%ed%a0%80/category=A1",
        "model=a%2fb/category=A1",
        "model=a/b=A1",
        "category=A1/model=a",
        "model=a/A1",
        "model/category",
        "foo/bar",
        ".hidden/category=A1",
    ],
)
def test_a_file_that_nobody_wrote_there_is_one_line(lake: Lake, folders: str) -> None:
    lake.write(TABLE, KEY, TABLE.rows([row()]), {})
    litter = lake.root / TABLE.name / folders / "data.parquet"
    litter.parent.mkdir(parents=True, exist_ok=True)
    litter.write_bytes(b"")
    with pytest.raises(LakeError) as error:
        lake.read_all(TABLE)
    assert str(error.value).startswith(f"{litter}: is no file of the lake, whose folders are model=…/category=…;")
    assert "\n" not in str(error.value)


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="this system takes no such names")
def test_a_folder_whose_name_is_no_text_is_one_line(tmp_path: Path) -> None:
    litter = Path(os.fsdecode(os.fsencode(tmp_path) + b"/maps/model=\xff/category=A1"))
    litter.mkdir(parents=True)
    (litter / "data.parquet").touch()
    with pytest.raises(LakeError, match=r"model=\\udcff/category=A1/data.parquet: is no file of the lake"):
        Lake(tmp_path).keys(TABLE)


def test_a_file_of_an_older_form_says_so(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    path = Path(str(lake.path(TABLE, KEY)))
    path.parent.mkdir(parents=True)
    pq.write_table(TABLE.rows([row()]).drop_columns(["seconds"]), path)
    with pytest.raises(LakeError, match=r"columns differ from the schema: seconds; delete this file"):
        lake.read(TABLE, KEY)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("a file where the folder should be")
    with pytest.raises(LakeError) as error:
        Lake(tmp_path / "lake").write(TABLE, KEY, TABLE.rows([row()]), {})
    assert "make the folder writable or point CONDMAT_DATA at another one" in str(error.value)
    assert "\n" not in str(error.value)


_FILLS_UP = """
import json, resource, sys
from tests.resources.test_lake import KEY, TABLE, row
from resources.lake import Lake, LakeError
lake = Lake(sys.argv[1])
lake.write(TABLE, KEY, TABLE.rows([row()]), {})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    import numpy as np
    lake.write(TABLE, KEY, TABLE.rows([row(values=np.random.default_rng(0).random(100_000))]), {})
except LakeError as error:
    print(json.dumps(str(error)))
"""


def test_when_writing_stops_halfway_the_old_file_stays_and_no_rest_is_left(tmp_path: Path) -> None:
    """The kernel refuses to let the file grow, as it does on a full disk."""
    done = subprocess.run(
        [sys.executable, "-c", _FILLS_UP, str(tmp_path)], cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    message = json.loads(done.stdout)
    assert message.endswith("raise the limit on file sizes and run again, what is finished is kept")
    lake = Lake(tmp_path)
    assert lake.read(TABLE, KEY).column("number").to_pylist() == [3]
    assert [path.name for path in lake.path(TABLE, KEY).parent.iterdir()] == ["data.parquet"]


# --- content hashes -------------------------------------------------------------------------------------------------

NUMBERS = st.lists(st.lists(st.one_of(st.none(), st.floats(), st.just(0.0))), min_size=1, max_size=6)


@given(NUMBERS, st.integers(0, 5))
def test_equal_contents_hash_equally_however_they_are_chunked(values: list[list[float | None]], cut: int) -> None:
    column = pa.array(values, pa.list_(pa.float64()))
    whole = pa.table({"x": column})
    parts = pa.table({"x": pa.chunked_array([column.slice(0, cut), column.slice(cut)])})
    assert content_hash(parts) == content_hash(whole)
    padded = pa.concat_arrays([pa.array([[1.0]], column.type), column]).slice(1)
    assert content_hash(pa.table({"x": padded})) == content_hash(whole)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([["ab", "c"]], [["a", "bc"]]),
        ([["a"], ["b"]], [["a", "b"]]),
        ([[None]], [[""]]),
        ([None], [[]]),
        ([[1.0, 2.0]], [[2.0, 1.0]]),
        ([{"a": None}], [{"a": 0}]),
        ([None, {"a": 0}], [{"a": 0}, None]),
        ([0], [None]),
    ],
)
def test_different_contents_hash_differently(one: list[Any], other: list[Any]) -> None:
    kind = pa.array(one + other).type
    hashes = [content_hash(pa.table({"x": pa.array(values, kind)})) for values in (one, other)]
    assert hashes[0] != hashes[1]


def test_what_may_differ_between_equal_results_is_left_out() -> None:
    rows = [TABLE.rows([row(seconds=seconds)]) for seconds in (1.0, 2.0)]
    assert TABLE.content_hash(rows[0]) == TABLE.content_hash(rows[1])
    assert TABLE.content_hash(rows[0]) != TABLE.content_hash(TABLE.rows([row(number=4)]))
