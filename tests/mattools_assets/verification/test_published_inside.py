"""What happens inside the sandbox to an answer and a verification function; here with a function of our own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mattools_assets.verification import inside
from mattools_assets.verification.transport import answer_bytes, portable
from resources.sandbox import decoding
from resources.sandbox.decoding import EnumValue, MsonObject, OpaqueObject

VERIFICATION = """
def check(answer):
    import math
    wrong = [f"{name} is wrong" for name, value in answer.items() if value != 1]
    if answer.get("crash"):
        raise KeyError("no")
    return [*wrong, len(wrong), len(answer)] if wrong else "ok"
"""


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "typed_values.py").write_bytes(Path(decoding.__file__).read_bytes())
    (tmp_path / "verification.py").write_text(VERIFICATION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def say(answer: dict[Any, Any]) -> dict[str, Any]:
        (tmp_path / "answer.json").write_bytes(answer_bytes(answer))
        return inside.verdict("check", strict=False)

    yield say
    sys.modules.pop("typed_values", None)


def test_right_wrong_and_crashing(said: Any) -> None:
    assert said({"a": 1, "b": 1}) == {"ok": True, "messages": [], "wrong": 0, "total": 0}
    assert said({"a": 1, "b": 2}) == {"ok": False, "messages": ["b is wrong"], "wrong": 1, "total": 2}
    assert said({"crash": 1}) == {"crash": "KeyError: 'no'"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.empty((0, 3)), [1.0, 2.0, 3.0]),
        ([], [1.0]),
        (1.0, [1.0, 1.0]),
        (float("inf"), 1.0),
        ([1.0, float("nan")], [1.0, 2.0]),
        (True, 1),
        ([], [[1, 2], [3]]),
        (1, True),
        ([inside.Foreign("a.B")], [1.0]),
    ],
)
def test_what_numpy_lets_pass_is_no_answer(value: Any, expected: Any) -> None:
    assert inside.unlike(value, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        ([1.0], 1.0),
        (np.ones(3), [1.0] * 3),
        ("a", "a"),
        ({"a": 1}, {"a": 1}),
        ({1}, {1}),
        (False, True),
        ([[1, 2], [3]], [[1, 2], [4]]),
        (10**400, 1),
        ([np.inf, 1.0], [np.inf, 2.0]),
        ([], []),
    ],
)
def test_others_are_left_to_the_verification(value: Any, expected: Any) -> None:
    assert not inside.unlike(value, expected)


def test_strict_verdicts_name_them(said: Any, tmp_path: Path) -> None:
    said({"a": 1})
    (tmp_path / "answer.json").write_bytes(answer_bytes({"a": True, "b": 1}))
    (tmp_path / "reference.py").write_text("def reference_answer():\n    return {'a': 1, 'b': 1}\n")
    found = inside.verdict("check", strict=True)
    assert (found["ok"], found["messages"]) == (False, ["a: Expected 1, got True"])
    assert inside.verdict("check", strict=False)["ok"]


def test_numpy_scalars_become_plain() -> None:
    value = portable({"a": np.float64(1.5), "b": [np.int32(2), np.bool_(True)], "c": np.arange(2)})
    assert (type(value["a"]), [type(item) for item in value["b"]]) == (float, [int, bool])
    assert isinstance(value["c"], np.ndarray)


def test_elements_cross_and_other_objects_equal_nothing() -> None:
    iron = MsonObject("pymatgen.core.periodic_table.Element", {"element": "Fe"})
    value = inside.rebuilt(portable({iron: 1}))
    assert [(key.symbol, count) for key, count in value.items()] == [("Fe", 1)]
    mock = MsonObject("unittest.mock._ANY", {"@module": "unittest.mock", "@callable": "ANY"})
    for thing in (mock, OpaqueObject("a.B", "1"), EnumValue("a.E", "x", 1)):
        foreign = inside.rebuilt(portable([thing]))[0]
        assert foreign != 1
        assert foreign != inside.rebuilt(portable([thing]))[0]
        assert isinstance(foreign, inside.Foreign)


def test_a_forged_tag_makes_no_other_object() -> None:
    forged = inside.rebuilt((inside.TAG, "structure", "x"))
    assert isinstance(forged, inside.Foreign)
    with pytest.raises(ValueError):
        inside.rebuilt((inside.TAG, inside.ELEMENT, "__class__"))
