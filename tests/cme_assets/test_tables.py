"""Tables: integers, exact round trip, errors that say where."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cme_assets.tables import Table, TableError

MAPS = arrays(np.float64, (5, 7), elements=st.floats(0.0, 1e6)).filter(lambda a: a.max() > 1e-6)


@given(MAPS, st.floats(-30, 30), st.floats(0.001, 1))
def test_text_and_table_are_the_same(values: np.ndarray, start: float, step: float) -> None:
    table = Table.of_map(values, start + step * np.arange(5), -start + step * np.arange(7), "E\\k")
    again = Table.parse(table.text)
    np.testing.assert_array_equal(again.counts, table.counts)
    np.testing.assert_array_equal(again.rows, table.rows)
    np.testing.assert_array_equal(again.columns, table.columns)
    assert again.text == table.text
    assert table.counts.max() == 1000
    assert table.counts.min() >= 0


@given(MAPS)
def test_counts_are_within_half_a_unit(values: np.ndarray) -> None:
    table = Table.of_map(values, np.arange(5.0), np.arange(7.0), "E\\k")
    assert np.abs(table.counts - values * (1000 / values.max())).max() <= 0.5 + 1e-6


def test_the_last_bits_do_not_decide_between_integers() -> None:
    values = np.array([[1000.0, 0.5, 1.5, 2.5 + 1e-9], [2.5 - 1e-9, 3.5, 0.4999999999, 4.5]])
    here = Table.of_map(values, np.arange(2.0), np.arange(4.0), "").counts
    there = Table.of_map(values * (1 + 1e-13), np.arange(2.0), np.arange(4.0), "").counts
    np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one row"),
        ("c\t1.0\n", "at least one row"),
        ("c\t1.0\n2.0\t3\t4\n", "line 2: 3 fields"),
        ("c\t1.0\n2.0\tx\n", "not a number"),
        ("c\t1.0\n2.0\t3.5\n", "not a number"),
    ],
)
def test_a_text_that_is_no_table_says_where(text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table.parse(text)
