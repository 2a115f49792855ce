"""Callees before callers, cycles as groups, and the tables that others read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from mattools_assets.source.classes import OUTSIDE_BASE, linearise
from mattools_assets.source.order import callees_first
from mattools_assets.source.project import analyse
from mattools_assets.source.references import Certainty, Reference
from mattools_assets.source.scopes import Role
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES
from mattools_assets.source.tree import CodeObject, Kind

PROGRAM = """
class Shape:
    def area(self): return side() ** 2
    def copy(self): return Shape()
def side(): return 1
def even(n): return odd(n - 1)
def odd(n): return even(n - 1)
def total(): return even(2) + Shape().area()
total()
"""


def functions(count: int) -> list[CodeObject]:
    return [CodeObject(n, Kind.FUNCTION, f"f{n}", f"f{n}", "m.py", n + 1, n + 1, None) for n in range(count)]


def test_levels_and_cycles_of_a_small_program(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM)
    project = analyse(tmp_path)
    names = {item.index: item.name for item in project.objects}
    levels = [sorted(names[index] for group in level for index in group) for level in project.order.levels]
    assert levels == [["Shape", "copy", "even", "odd", "side"], ["area"], ["total"]]
    assert [[names[index] for index in cycle] for cycle in project.order.cycles()] == [["even", "odd"]]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_every_callee_is_lower_or_in_the_same_cycle(pairs: list[tuple[int, int]]) -> None:
    references = [Reference(a, b, Role.CALL, Certainty.EXACT, 1, 1) for a, b in pairs]
    order = callees_first(functions(12), references)
    level, reachable = order.level_of(), {a: {b for s, b in pairs if s == a} for a in range(12)}
    for _ in range(12):
        reachable = {a: found | {c for b in found for c in reachable[b]} for a, found in reachable.items()}
    assert sorted(level) == list(range(12))
    for a, b in pairs:
        assert level[b] < level[a] or a == b or (a in reachable[b] and level[a] == level[b])
    together = {frozenset(group) for groups in order.levels for group in groups}
    assert together == {frozenset({a} | {b for b in reachable[a] if a in reachable[b]}) for a in range(12)}


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=3, unique=True), min_size=6, max_size=6))
def test_method_resolution_order_is_pythons(bases: list[list[int]]) -> None:
    """Against Python itself, where Python accepts the bases; class n may only inherit from lower ones."""
    made: list[type] = []
    orders: list[tuple[int, ...]] = []
    for n, drawn in enumerate(bases):
        parents = [base for base in drawn if base < n]
        orders.append(linearise(n, parents, orders.__getitem__))
        try:
            made.append(type(str(n), tuple(made[base] for base in parents) or (object,), {}))
        except TypeError:
            assert set(orders[n]) == {n}.union(*[orders[base] for base in parents])
            return
        assert orders[n] == tuple(int(kind.__name__) for kind in made[n].__mro__ if kind is not object)


def test_an_outside_base_keeps_its_place() -> None:
    assert linearise(0, [1, OUTSIDE_BASE], {1: (1, OUTSIDE_BASE)}.__getitem__) == (0, 1, OUTSIDE_BASE)


def test_tables_are_parquet_that_one_can_query(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM)
    project = analyse(tmp_path)
    objects, references = project.code_objects(), project.reference_table()
    assert CODE_OBJECTS.fault(objects) is None
    assert REFERENCES.fault(references) is None
    objects.validate(full=True)
    pq.write_table(objects, tmp_path / "objects.parquet")
    pq.write_table(references, tmp_path / "references.parquet")
    rows = duckdb.sql(
        f"""SELECT o.name, o.level, o.callers, o.group_id, count(*)
        FROM '{tmp_path}/objects.parquet' o JOIN '{tmp_path}/references.parquet' r ON r.target_id = o.object_id
        WHERE o.kind = 'function' GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    assert rows == [
        ("even", 0, 2, "m.py:even:6", 2),
        ("odd", 0, 1, "m.py:even:6", 1),
        ("side", 0, 1, "m.py:side:5", 1),
        ("total", 2, 1, "m.py:total:8", 1),
    ]


def test_object_ids_are_unique_where_names_are_not(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("if 1:\n  def f(): pass\nelse:\n  def f(): pass\n")
    ids = analyse(tmp_path).code_objects().column("object_id").to_pylist()
    assert ids == ["m.py", "m.py:f:2", "m.py:f:4"]
