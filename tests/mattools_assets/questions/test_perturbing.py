"""Moving values out of their tolerance: each moved value is rejected for its value, and for nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pymatgen.core import Composition, Lattice, Structure

from mattools_assets.questions.own import OwnQuestion, Property, own_questions
from mattools_assets.questions.perturbing import perturbed
from mattools_assets.verification.comparison import OBJECTS, Expectation, Mismatch, compare
from mattools_assets.verification.examples import decoded
from mattools_assets.verification.verdicts import Finding
from resources.sandbox.decoding import decode
from resources.sandbox.encoding import encode

EVERY = [(own, item) for own in own_questions() for item in own.properties if item.expected.type not in OBJECTS]


@pytest.mark.parametrize(("own", "item"), EVERY, ids=lambda part: getattr(part, "name", ""))
def test_every_moved_value_is_wrong_and_of_the_right_type(own: OwnQuestion, item: Property) -> None:
    del own
    value = decoded(item.expected.type, item.expected.value)
    if "structure" in item.expected.type or "composition" in item.expected.type:
        pytest.skip("objects of pymatgen are moved in the sandbox")
    with pytest.raises(Mismatch) as mismatch:
        compare(perturbed(value, item.expected.tolerance), item.expected)
    assert mismatch.value.finding is Finding.WRONG_VALUE


CELL = Structure(Lattice.cubic(4.0), ["Cs", "Cl"], [[0, 0, 0], [0.5, 0.5, 0.5]])
WRITTEN = {"cell": [4, 4, 4, 90, 90, 90], "sites": [["Cs", 0, 0, 0], ["Cl", 0.5, 0.5, 0.5]]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (CELL, Expectation("structure", WRITTEN, 0.01)),
        (Composition("Fe2O3"), Expectation("composition", {"Fe": 2.0, "O": 3.0})),
        (np.float64(2.0), Expectation("float", 2.0, 0.1)),
        (np.array([[1, 2]]), Expectation("array of int", [[1, 2]])),
        (frozenset({"a"}), Expectation("set of str", ["a"])),
        ([], Expectation("list of int", [])),
    ],
)
def test_objects_and_numbers_of_numpy(value: Any, expected: Expectation) -> None:
    compare(decode(encode(value)), expected)
    with pytest.raises(Mismatch) as mismatch:
        compare(decode(encode(perturbed(value, expected.tolerance))), expected)
    assert mismatch.value.finding is Finding.WRONG_VALUE
