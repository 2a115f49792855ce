"""Values survive the border exactly; hostile values and hostile texts end in a bounded way."""

from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymatgen.core import Element, Lattice, Structure
from pymatgen.core.units import FloatWithUnit

from resources.sandbox.decoding import DecodingError, EnumValue, MsonObject, OpaqueObject, decode
from resources.sandbox.encoding import EncodingError, encode
from tests.timing import seconds


def there_and_back(value: Any) -> Any:
    return decode(encode(value))


def same(left: Any, right: Any) -> bool:
    """Equality that also compares types, NaN and the sign of zero."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or (
            left == right and math.copysign(1, left) == math.copysign(1, right)
        )
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return len(left) == len(right) and all(map(same, left.items(), right.items()))
    return bool(left == right)


text = st.text(st.characters(exclude_categories=["Cs"]))
hashable = st.none() | st.booleans() | st.integers() | text | st.binary() | st.floats(allow_nan=False)
values = st.recursive(
    hashable | st.floats() | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner)
        | st.sets(hashable)
        | st.frozensets(hashable)
    ),
    max_leaves=20,
)


@given(values)
@settings(max_examples=300, deadline=None)
def test_every_built_in_value_comes_back_the_same(value: Any) -> None:
    assert same(there_and_back(value), value)


@given(st.binary(max_size=200) | text.map(str.encode))
@settings(max_examples=300, deadline=None)
def test_any_bytes_decode_or_raise_a_decoding_error(data: bytes) -> None:
    try:
        decode(data)
    except DecodingError:
        return


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ">f8", "M8[ns]", "m8[s]"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3)])
def test_arrays_keep_type_shape_and_content(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    back = there_and_back(array)
    assert back.shape == array.shape
    assert back.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(back, array)


def test_arrays_of_texts_keep_shape_and_content() -> None:
    array = np.array([["a", "bcd"], ["", "ü"]])
    np.testing.assert_array_equal(there_and_back(array), array, strict=True)


def test_not_a_number_is_kept_in_arrays_and_alone() -> None:
    assert math.isnan(there_and_back(float("nan")))
    np.testing.assert_array_equal(there_and_back(np.array([np.nan, -np.inf, 1.5])), [np.nan, -np.inf, 1.5])


def test_numpy_scalars_stay_numpy_scalars() -> None:
    for scalar in (np.float64(0.1), np.float32(0.1), np.int64(-3), np.bool_(True), np.complex128(1 - 2j)):
        back = there_and_back(scalar)
        assert type(back) is type(scalar)
        assert back == scalar


def test_long_doubles_become_doubles() -> None:
    assert there_and_back(np.array([0.5], dtype=np.longdouble)).dtype == np.float64


def test_object_arrays_hold_decoded_values() -> None:
    array = np.array([[1, "a"], [None, (2.5,)]], dtype=object)
    back = there_and_back(array)
    assert back.shape == (2, 2)
    assert back[1, 1] == (2.5,)


def test_subclasses_of_built_in_types_become_those() -> None:
    pair = namedtuple("pair", "a b")
    assert same(there_and_back(pair(1, 2)), (1, 2))
    assert same(there_and_back(OrderedDict(b=1, a=2)), {"b": 1, "a": 2})
    assert same(there_and_back(range(3)), [0, 1, 2])


def test_a_number_with_a_unit_becomes_a_number() -> None:
    assert there_and_back(FloatWithUnit(1.25, "eV")) == 1.25


class Colour(enum.Enum):
    RED = ("r", 1)


def test_enumeration_members_come_as_names_and_values() -> None:
    back = there_and_back({Colour.RED: 1})
    (key,) = back
    assert key == EnumValue(f"{__name__}.Colour", "RED", ("r", 1))


def test_pymatgen_objects_come_as_their_dictionaries() -> None:
    structure = Structure(Lattice.cubic(4.2), ["Na", "Cl"], [[0, 0, 0], [0.5, 0.5, 0.5]])
    back = there_and_back(structure)
    assert isinstance(back, MsonObject)
    assert back.type_name.endswith(".Structure")
    assert Structure.from_dict(back.data) == structure


def test_a_set_of_pymatgen_objects_is_a_set() -> None:
    back = there_and_back({Element("Fe"), Element("O")})
    assert {entry.data["element"] for entry in back} == {"Fe", "O"}


def test_other_objects_come_as_a_bounded_text() -> None:
    class Long:
        def __repr__(self) -> str:
            return "x" * 10_000_000

    back = there_and_back([object, Long(), lambda: 0])
    assert all(isinstance(item, OpaqueObject) for item in back)
    assert back[1].text == "x" * 2000


class Liar:
    """Claims to be a float, equals everything, and fails whatever it is asked."""

    __class__ = float  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(1.0)

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __float__(self) -> float:
        return 1.0


def test_a_lying_object_is_known_by_its_real_class_and_equals_nothing() -> None:
    back = there_and_back(Liar())
    assert isinstance(back, OpaqueObject)
    assert back.type_name == f"{__name__}.Liar"
    assert back.text == "<repr failed with RuntimeError>"
    assert back != 1.0


class LyingFloat(float):
    def __pos__(self) -> float:
        return 99.0

    def __float__(self) -> float:
        return 99.0

    def __repr__(self) -> str:
        return "99.0"


class LyingList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter([99])

    def __len__(self) -> int:
        return 1


def test_overridden_methods_do_not_change_what_is_sent() -> None:
    assert same(there_and_back(LyingFloat(0.5)), 0.5)
    assert same(there_and_back(LyingList([1, 2])), [1, 2])


def test_cycles_and_depth_end_in_a_text() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert isinstance(there_and_back(cycle)[0], OpaqueObject)
    deep: Any = 0
    for _ in range(500):
        deep = [deep]
    node = there_and_back(deep)
    while isinstance(node, list):
        node = node[0]
    assert isinstance(node, OpaqueObject)


@pytest.mark.parametrize("value", ["x" * 9_000_000, b"x" * 7_000_000, np.zeros(1_100_000), list(range(2_000_001))])
def test_a_result_that_is_too_large_is_refused_with_its_bound(value: Any) -> None:
    with pytest.raises(EncodingError, match=r"8388608 bytes|2000000 parts"):
        encode(value)


def test_huge_integers_come_as_a_text() -> None:
    assert there_and_back(10**3900) == 10**3900
    assert isinstance(there_and_back(10**5000), OpaqueObject)


def test_lone_surrogates_never_reach_the_host() -> None:
    assert there_and_back("a\ud800b") == "a?b"
    assert decode(rb'"a\ud800b"') == "a?b"


HOSTILE = {
    "nothing": b"",
    "half": b'{"t":"dict","v":[[1',
    "bare NaN": b"[NaN]",
    "overflowing number": b"1e999",
    "many digits": b"9" * 1_000_000,
    "digits beyond a float": str(2**53).encode(),
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"t":"tuple","v":[' * 200 + b"]}" * 200,
    "duplicate keys": b'{"t":"int","t":"int","v":"1"}',
    "no tag": b'{"v":1}',
    "tag of another type": b'{"t":["int"],"v":"1"}',
    "unknown tag": b'{"t":"pickle","v":"gASVAAAA"}',
    "code as integer": b'{"t":"int","v":"__import__(0)"}',
    "unhashable set": b'{"t":"set","v":[[1]]}',
    "unhashable key": b'{"t":"dict","v":[[[1],2]]}',
    "object dtype": b'{"t":"array","dtype":"|O8","shape":[1],"v":"AAAAAAAAAAA="}',
    "void dtype": b'{"t":"array","dtype":"f8,f8","shape":[1],"v":"AAAAAAAAAAA="}',
    "wrong shape": b'{"t":"array","dtype":"<f8","shape":[2],"v":"AAAAAAAAAAA="}',
    "negative shape": b'{"t":"array","dtype":"<f8","shape":[-1],"v":"AAAAAAAAAAA="}',
    "huge shape of nothing": b'{"t":"array","dtype":"<f8","shape":[8000000,8000000,8000000,0],"v":""}',
    "shape of booleans": b'{"t":"array","dtype":"<f8","shape":[true],"v":"AAAAAAAAAAA="}',
    "bad base64": b'{"t":"bytes","v":"A"}',
    "not UTF-8": b'"\xff"',
    "texts that need much room": json.dumps(
        {"t": "array", "dtype": "str", "shape": [1001], "v": ["x" * 1_000_000] + [""] * 1000}
    ).encode(),
    "many parts": b"[" + b"0," * 2_000_000 + b"0]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_refused_at_once(name: str) -> None:
    def refuse() -> None:
        with pytest.raises(DecodingError):
            decode(HOSTILE[name])

    assert any(seconds(refuse) < 20 * seconds(lambda: json.loads(HOSTILE["many parts"])) for _ in range(3))


def test_keys_with_equal_hashes_cannot_stall_the_host() -> None:
    """Beside as many keys as are let through: all of these would take some thousand times as long."""
    modulus = 2**61 - 1

    def dictionary(keys: range) -> bytes:
        return json.dumps({"t": "dict", "v": [[{"t": "int", "v": format(key, "x")}, 0] for key in keys]}).encode()

    def refuse() -> None:
        with pytest.raises(DecodingError, match="10000 keys"):
            decode(hostile)

    hostile, ordinary = dictionary(range(modulus, 60_000 * modulus, modulus)), dictionary(range(9_999))
    assert any(seconds(refuse) < 200 * seconds(lambda: decode(ordinary)) for _ in range(3))


def test_odd_bytes_in_boolean_arrays_become_true() -> None:
    back = decode(b'{"t":"array","dtype":"|b1","shape":[2],"v":"BwA="}')
    assert back.tolist() == [True, False]
