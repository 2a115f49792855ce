"""The call graph's tables from a small package whose edges are counted by hand, and the documents' examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dbt_reports.build import build_reports
from dbt_reports.project import PROJECT, ReportsError
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES
from mattools_assets.stages.source import make_source_tables
from resources.lake import Lake
from resources.settings import Settings, read_settings

SHAPES = '''"""Shapes."""
class Structure:
    """A body."""
    def area(self): return side() ** 2
def side(): return 1
def even(n): return odd(n - 1)
def odd(n): return even(n - 1)
'''
USER = """from pack.shapes import Structure
def total(s: Structure, x): return s.area() + Structure().area() + x.area()
"""
EXAMPLES = [
    query
    for text in ("README.md", "docs/call-graph.md")
    for block in re.findall(r"```sql\n(.*?)```", (PROJECT.parent / text).read_text(encoding="utf-8"), flags=re.DOTALL)
    for query in block.split(";\n")
    if "mattools_code_objects" in query or "mattools_references" in query
]


def write_graph(folder: Path) -> Settings:
    """A lake with the tree and the graph of the small package."""
    for name, text in {"__init__": "", "shapes": SHAPES, "user": USER}.items():
        path = folder / "pack" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    environment = {"CONDMAT_DATA": str(folder / "data"), "CONDMAT_TOOL_SOURCE": f"folder:{folder / 'pack'}"}
    settings = read_settings(environment)
    made = make_source_tables(settings)
    for table in (CODE_OBJECTS, REFERENCES):
        Lake(settings.lake).write(table, {}, made[table].rows, {})
    return settings


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    settings = write_graph(tmp_path_factory.mktemp("graph"))
    with duckdb.connect(build_reports(settings).database, read_only=True) as connection:
        yield connection


def test_objects_with_callers_and_callees(graph: duckdb.DuckDBPyConnection) -> None:
    rows = graph.execute(
        "select object_id, kind, has_docstring, level, n_callers, n_callees from mattools_code_objects"
    ).fetchall()
    assert rows == [
        ("pack", "package", False, None, 0, 0),
        ("pack/__init__.py", "file", False, None, 0, 0),
        ("pack/shapes.py", "file", True, None, 0, 0),
        ("pack/shapes.py:Structure:2", "class", True, 0, 2, 0),
        ("pack/shapes.py:Structure.area:4", "method", False, 1, 1, 1),
        ("pack/shapes.py:side:5", "function", False, 0, 1, 0),
        ("pack/shapes.py:even:6", "function", False, 0, 1, 1),
        ("pack/shapes.py:odd:7", "function", False, 0, 1, 1),
        ("pack/user.py", "file", False, None, 0, 1),
        ("pack/user.py:total:2", "function", False, 2, 0, 2),
    ]


def test_references_with_both_names_and_files(graph: duckdb.DuckDBPyConnection) -> None:
    rows = graph.execute(
        "select source_file, source, line, target_file, target, kind, certainty, mentions from mattools_references"
    ).fetchall()
    shapes, user = "pack/shapes.py", "pack/user.py"
    assert rows == [
        (shapes, "Structure.area", 4, shapes, "side", "call", "exact", 1),
        (shapes, "even", 6, shapes, "odd", "call", "exact", 1),
        (shapes, "odd", 7, shapes, "even", "call", "exact", 1),
        (user, "", 1, shapes, "Structure", "import", "exact", 1),
        (user, "total", 2, shapes, "Structure.area", "call", "typed", 3),
        (user, "total", 2, shapes, "Structure", "call", "exact", 2),
    ]


@pytest.mark.parametrize("query", EXAMPLES)
def test_examples_of_the_documents_run(graph: duckdb.DuckDBPyConnection, query: str) -> None:
    assert graph.execute(query).fetchall()


def test_readme_and_call_graph_have_three_examples() -> None:
    assert len(EXAMPLES) == 3


def test_a_reference_to_nothing_is_refused(tmp_path: Path) -> None:
    settings = write_graph(tmp_path)
    lake = Lake(settings.lake)
    rows = lake.read(REFERENCES, {}).to_pylist()
    rows[0]["target_id"] = "pack/gone.py:f:1"
    lake.write(REFERENCES, {}, pa.Table.from_pylist(rows, schema=REFERENCES.schema), {})
    with pytest.raises(ReportsError, match="no_nulls_mattools_references"):
        build_reports(settings)
