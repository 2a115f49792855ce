"""Typed comparison: what is right passes, and nothing that a hostile function could return does."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mattools_assets.verification.comparison import Expectation, Mismatch, compare, known_type
from mattools_assets.verification.examples import decoded
from mattools_assets.verification.verdicts import Finding
from resources.sandbox.decoding import EnumValue, MsonObject, OpaqueObject, decode
from resources.sandbox.encoding import encode

STRUCTURE = {"cell": [4.0, 4.0, 5.0, 90.0, 90.0, 120.0], "sites": [["Co", 0.0, 0.0, 0.0], ["Li", 0.5, 0.5, 0.25]]}


def finding(got: Any, expected: Expectation) -> Finding:
    try:
        compare(got, expected)
    except Mismatch as mismatch:
        return mismatch.finding
    return Finding.PASSED


FLOAT = Expectation("float", 2.5, 0.1)
INT = Expectation("int", 1)
BOOL = Expectation("bool", True)
TEXT = Expectation("str", "Fm-3m")
LIST = Expectation("list of float", [1.0, 2.0], 0.1)
LOOSE = Expectation("list of float", [1.0, 2.0, 3.0], 0.1, ordered=False)
SET = Expectation("set of str", ["a", "b"])
DICT = Expectation("dict of str to float", {"a": 1.0}, 0.1)
NESTED = Expectation("list of list of int", [[1, 2], [3, 4]])
ARRAY = Expectation("array of float", [[1.0, 2.0], [3.0, 4.0]], 0.1)
COUNTS = Expectation("array of int", [1, 2])
CRYSTAL = Expectation("structure", STRUCTURE, 0.01)
ALLOY = Expectation("composition", {"Fe": 2, "O": 3})
ALL = (FLOAT, INT, BOOL, TEXT, LIST, LOOSE, SET, DICT, NESTED, ARRAY, COUNTS, CRYSTAL, ALLOY)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (2.55, FLOAT),
        (np.float64(2.5), FLOAT),
        (np.float32(2.5), FLOAT),
        (np.array(2.5)[()], FLOAT),
        (2, Expectation("float", 2.0, 0.1)),
        (np.int64(1), INT),
        (np.bool_(True), BOOL),
        ("Fm-3m", TEXT),
        ([1.0, 2.0], LIST),
        ((1, 2), LIST),
        (np.array([1.0, 2.05]), LIST),
        ([3.05, 1.0, 2.0], LOOSE),
        ({"a", "b"}, SET),
        (frozenset("ab"), SET),
        ({"a": np.float64(1.0)}, DICT),
        ([(1, 2), [3, 4]], NESTED),
        (np.array([[1, 2], [3, 4]]), NESTED),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), ARRAY),
        ([[1, 2], [3, 4]], ARRAY),
        (np.array([1, 2], "u1"), COUNTS),
        ([np.array([1, 2])], Expectation("array of int", [[1, 2]])),
        (np.array([2**64 - 1], np.uint64), Expectation("array of int", [2**64 - 1])),
        (np.array([-(2**63)]), Expectation("array of int", [-(2**63)])),
        (decoded("structure", STRUCTURE), CRYSTAL),
        (decoded("composition", {"O": 3, "Fe": 2}), ALLOY),
    ],
)
def test_right_values_pass(got: Any, expected: Expectation) -> None:
    assert finding(got, expected) is Finding.PASSED


@pytest.mark.parametrize(
    ("got", "expected", "wanted"),
    [
        (None, FLOAT, Finding.NONE),
        (2.61, FLOAT, Finding.WRONG_VALUE),
        (math.nan, FLOAT, Finding.WRONG_VALUE),
        (math.inf, FLOAT, Finding.WRONG_VALUE),
        (10**4000, FLOAT, Finding.WRONG_TYPE),
        ("2.5", FLOAT, Finding.WRONG_TYPE),
        (2.5 + 0j, FLOAT, Finding.WRONG_TYPE),
        (np.array([2.5]), FLOAT, Finding.WRONG_TYPE),
        (True, INT, Finding.WRONG_TYPE),
        (np.bool_(True), INT, Finding.WRONG_TYPE),
        (1.0, INT, Finding.WRONG_TYPE),
        (True, Expectation("float", 1.0, 0.1), Finding.WRONG_TYPE),
        (1, BOOL, Finding.WRONG_TYPE),
        ("True", BOOL, Finding.WRONG_TYPE),
        (b"Fm-3m", TEXT, Finding.WRONG_TYPE),
        (OpaqueObject("str", "Fm-3m"), TEXT, Finding.WRONG_TYPE),
        (EnumValue("a.B", "Fm-3m", "Fm-3m"), TEXT, Finding.WRONG_TYPE),
        ([2.0, 1.0], LIST, Finding.WRONG_VALUE),
        ([1.0], LIST, Finding.WRONG_VALUE),
        ([1.0, math.nan], LIST, Finding.WRONG_VALUE),
        ({1.0, 2.0}, LIST, Finding.WRONG_TYPE),
        ("ab", LIST, Finding.WRONG_TYPE),
        ([1.0, 1.0, 3.0], LOOSE, Finding.WRONG_VALUE),
        ([1.0, 2.0, math.nan], LOOSE, Finding.WRONG_VALUE),
        ([1.0, 2.0, "3"], LOOSE, Finding.WRONG_TYPE),
        (["a", "b"], SET, Finding.WRONG_TYPE),
        ({"a"}, SET, Finding.WRONG_VALUE),
        ({"a", 1}, SET, Finding.WRONG_TYPE),
        ({"a": 1.0, "b": 1.0}, DICT, Finding.WRONG_VALUE),
        ({"a": True}, DICT, Finding.WRONG_TYPE),
        ([("a", 1.0)], DICT, Finding.WRONG_TYPE),
        ([[True, 2], [3, 4]], NESTED, Finding.WRONG_TYPE),
        ([[1.0, 2.0], [3.0, True]], ARRAY, Finding.WRONG_TYPE),
        ([[1.0, 2.0], [3.0]], ARRAY, Finding.WRONG_TYPE),
        (np.array([[1.0, 2.0], [3.0, math.nan]]), ARRAY, Finding.WRONG_VALUE),
        (np.ones((2, 2), bool), ARRAY, Finding.WRONG_TYPE),
        (np.zeros(1_000_000), ARRAY, Finding.WRONG_VALUE),
        (np.array([["1", "2"], ["3", "4"]]), ARRAY, Finding.WRONG_TYPE),
        (np.array([1.0, 2.0]), COUNTS, Finding.WRONG_TYPE),
        ([np.array([True]), np.array([2])], Expectation("array of int", [[1], [2]]), Finding.WRONG_TYPE),
        (
            [(np.array([[True]]),), [[[2.0]]]],
            Expectation("array of float", [[[[1.0]]], [[[2.0]]]], 0.1),
            Finding.WRONG_TYPE,
        ),
        ([np.bool_(True), 2], COUNTS, Finding.WRONG_TYPE),
        (np.array([2**53 + 1]), Expectation("array of int", [2**53]), Finding.WRONG_VALUE),
        (np.array([2**64 - 1], np.uint64), Expectation("array of int", [-1]), Finding.WRONG_VALUE),
        (np.array([-(2**63)]), Expectation("array of int", [2**63 - 1]), Finding.WRONG_VALUE),
        ([[math.inf]], Expectation("array of float", [[1.0]], math.inf), Finding.WRONG_VALUE),
        (STRUCTURE, CRYSTAL, Finding.WRONG_TYPE),
        (MsonObject("evil.Structure", decoded("structure", STRUCTURE).data), CRYSTAL, Finding.WRONG_TYPE),
        (MsonObject("pymatgen.core.structure.Structure", {"lattice": None, "sites": []}), CRYSTAL, Finding.WRONG_TYPE),
        ({"Fe": 2, "O": 3}, ALLOY, Finding.WRONG_TYPE),
        (decoded("composition", {"Fe": 2, "O": math.nan}), ALLOY, Finding.WRONG_TYPE),
        (decoded("composition", {"Fe": 2}), ALLOY, Finding.WRONG_VALUE),
    ],
)
def test_wrong_values_fail(got: Any, expected: Expectation, wanted: Finding) -> None:
    assert finding(got, expected) is wanted


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["sites"].pop(),
        lambda data: data["sites"].append(data["sites"][0]),
        lambda data: data["sites"][1].update(abc=[0.5, 0.5, 0.26]),
        lambda data: data["sites"][1].update(abc=[0.5, 0.5]),
        lambda data: data["sites"][1].update(abc=[0.5, 0.5, math.nan]),
        lambda data: data["sites"][1]["species"].append({"element": "Na", "occu": 1}),
        lambda data: data["sites"][1]["species"][0].update(occu=0.5),
        lambda data: data["sites"][1].update(species=data["sites"][0]["species"]),
        lambda data: data["lattice"].update(a=4.1),
        lambda data: data["lattice"].update(gamma=119.0),
        lambda data: data["lattice"].update(a=math.nan),
        lambda data: data["lattice"].update(a=True),
        lambda data: data.update(sites=None),
    ],
)
def test_changed_structures_fail(change: Any) -> None:
    crystal = decoded("structure", json.loads(json.dumps(STRUCTURE)))
    change(crystal.data)
    assert finding(crystal, CRYSTAL) is not Finding.PASSED


def test_structures_match_up_to_translations_and_order() -> None:
    crystal = decoded("structure", {"cell": STRUCTURE["cell"], "sites": [["Li", -0.5, 1.5, 0.25], ["Co", 1, 0, -1e-9]]})
    assert finding(crystal, CRYSTAL) is Finding.PASSED


class Liar(float):
    """Equal to everything, of any class that is asked for."""

    __hash__ = float.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __sub__(self, other: object) -> float:  # type: ignore[override]
        return 0.0

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        return int


def through_the_sandbox_door(value: Any) -> Any:
    return decode(encode(value))


@pytest.mark.parametrize("expected", ALL, ids=lambda expected: expected.type)
def test_liars_and_loops_fail(expected: Expectation) -> None:
    loop: dict[str, Any] = {}
    loop["a"] = loop
    chain: list[Any] = []
    chain.append(chain)
    for lie in (
        Liar(9.0),
        [Liar(9.0)] * 2,
        {"a": Liar(9.0)},
        loop,
        chain,
        (n for n in range(2)),
        object(),
        Liar,
        1e308,
    ):
        assert finding(through_the_sandbox_door(lie), expected) is not Finding.PASSED


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.integers(5, 10**30) | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(anything, st.sampled_from(ALL))
def test_always_ends_in_a_finding(value: Any, expected: Expectation) -> None:
    wanted = finding(value, expected)
    if expected is INT:  # no integer below 5 is drawn
        assert wanted is not Finding.PASSED


def test_known_types() -> None:
    assert all(known_type(expected.type) for expected in ALL)
    for name in ("number", "list", "list of thing", "array of str", "set of list of int", "dict of int to int"):
        assert not known_type(name)
