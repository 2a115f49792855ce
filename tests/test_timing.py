"""The measure of proportion tells work that grows as the square from work that does not."""

from __future__ import annotations

import re

from tests.timing import in_proportion


def test_a_search_from_every_place_to_the_end_is_out_of_proportion() -> None:
    assert not in_proportion(re.compile("x+y").search, "x")


def test_one_search_to_the_end_is_in_proportion() -> None:
    assert in_proportion(re.compile("xy").search, "x")
