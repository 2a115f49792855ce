"""One conformance suite for all task categories: a new category is done when it passes."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cme_assets.physics.resolution import Instrument
from cme_assets.problems import Sample, clean_map, noise_map
from cme_assets.tasks.catalogue import CATEGORIES, by_id
from cme_assets.tasks.category import GAMMA_MOMENTUM, NOISE_LEVELS, Category, CategoryError, MapKind, Shape
from cme_assets.tasks.photoemission import COARSEST, LOWEST_RATE

EVERY = pytest.mark.parametrize("category", CATEGORIES.values(), ids=CATEGORIES.keys())
DRAWS = range(12)
"""The four draws of the benchmark and eight others from the same ranges."""

DOMAIN_SIZES = {"A": 1, "B": 10, "C": 5, "D": 7, "E": 4, "F": 6, "G": 5}
PLACES_ALONG_ROWS = {"E_F", "E", "E_bottom", "E_D", "w_0", "w", "w_p", "w_1", "w_2", "w_3"}
PLACES_ALONG_COLUMNS = {"k", "q_CO"}


def test_the_published_part_of_the_catalogue_is_the_published_size() -> None:
    published = [category for category in CATEGORIES.values() if category.published]
    assert len(published) == 38
    assert sum(len(category.levels) for category in published) == 190
    assert Counter(category.tier for category in published) == {1: 15, 2: 12, 3: 11}
    assert Counter(category.domain for category in published) == DOMAIN_SIZES
    assert all(category.id == name for name, category in CATEGORIES.items())


@pytest.mark.parametrize("name", ["A2", "B11", "G6", "H1", "Z120"])
def test_a_category_of_ones_own_may_be_of_any_domain(name: str) -> None:
    own = replace(CATEGORIES["A1"], id=name, published=False)
    assert own.domain == name[0]
    assert by_id([CATEGORIES["A1"], own]) == {"A1": CATEGORIES["A1"], name: own}


@pytest.mark.parametrize(
    "name", ["", "H", "h1", "1H", "HH1", "H0", "H01", "H-1", "H1a", "H 1", " H1", "H1\n", "H/1", "../H1", "H٣", "Ä1"]
)
def test_an_id_that_is_no_letter_and_number_is_refused(name: str) -> None:
    with pytest.raises(
        CategoryError, match=rf"^category {re.escape(repr(name))}: is no id; use one capital letter, .*$"
    ):
        replace(CATEGORIES["A1"], id=name, published=False)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"id": "H1"}, "category 'H1': its domain is none of the published A to G; declare it with published=False"),
        ({"tier": 4}, "category 'A1': tier 4 is none of 1, 2 and 3"),
        ({"levels": ()}, "category 'A1': has 0 levels; use 1 to 5"),
        ({"levels": (*NOISE_LEVELS, NOISE_LEVELS[-1])}, "category 'A1': has 6 levels; use 1 to 5"),
    ],
)
def test_what_the_reports_could_not_take_is_refused_at_once(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(CategoryError, match=f"^{re.escape(fault)}$"):
        replace(CATEGORIES["A1"], **changes)


def test_a_category_that_is_no_longer_counted_is_made_anew() -> None:
    assert replace(CATEGORIES["A1"], published=False).hash != CATEGORIES["A1"].hash


def test_an_id_that_is_there_twice_is_refused() -> None:
    twice = replace(CATEGORIES["A1"], title="Another edge", published=False)
    with pytest.raises(
        CategoryError, match=r"^category 'A1': is there twice, as 'Fermi edge' and 'Another edge'; give"
    ):
        by_id([CATEGORIES["A1"], CATEGORIES["B1"], twice])


@EVERY
def test_draws_are_reproducible_and_differ(category: Category) -> None:
    first, again, other = (Sample(category, index, 50).parameters for index in (3, 3, 2))
    assert first == again
    assert first != other


@EVERY
def test_answers_are_finite_and_of_the_shape_named(category: Category) -> None:
    for index in DRAWS:
        sample = Sample(category, index, 100)
        wanted = len(sample.listed) if sample.listed else len(category.quantity.names)
        assert sample.truth.shape == (wanted,)
        assert np.all(np.isfinite(sample.truth))
        assert 0 < sample.gamma < np.inf
        if category.quantity.shape is Shape.ARRAY:
            assert wanted >= 15


@EVERY
def test_places_on_an_axis_lie_inside_their_table(category: Category) -> None:
    for index in DRAWS:
        sample = Sample(category, index, 100)
        for name, value in zip(category.quantity.names * sample.truth.size, sample.truth, strict=False):
            if name in PLACES_ALONG_ROWS:
                axis = sample.axes.printed_y
            elif name in PLACES_ALONG_COLUMNS:
                axis = sample.axes.x.centers
            else:
                continue
            assert axis[1] < value < axis[-2]


@EVERY
def test_maps_are_positive_finite_and_peak_inside(category: Category) -> None:
    for index in range(4):
        for level in (category.levels[0], category.levels[-1]):
            values = clean_map(Sample(category, index, 50), level, Instrument())
            assert values.shape == (50, 50)
            assert np.all(np.isfinite(values))
            assert values.min() >= 0
            assert values.max() > 0


@EVERY
def test_pixels_are_means_so_that_resolutions_agree(category: Category) -> None:
    """The map at 50 is the map at 100 with four pixels merged.

    What remains is the midpoint rule's error, step^2/24 times the curvature, largest for the orbital peaks (1.2 in
    1000), and the background's reference, the peak on the fine grid (1.9 in 1000 for a paramagnon near zero loss).
    """
    level = category.levels[0]
    coarse, fine = (clean_map(Sample(category, 1, size), level, Instrument()) for size in (50, 100))
    merged = fine.reshape(50, 2, 50, 2).mean(axis=(1, 3))
    assert np.abs(coarse - merged).max() < 2.5e-3 * merged.max()


@EVERY
def test_oversampling_is_enough(category: Category, monkeypatch: pytest.MonkeyPatch) -> None:
    level = category.levels[0]
    usual = clean_map(Sample(category, 2, 50), level, Instrument())
    monkeypatch.setattr("cme_assets.physics.resolution.OVERSAMPLING", 32)
    finer = clean_map(Sample(category, 2, 50), level, Instrument())
    assert np.abs(usual - finer).max() < 1e-3 * finer.max()


@EVERY
def test_levels_share_the_draw_and_not_the_specks(category: Category) -> None:
    sample = Sample(category, 3, 50)
    fields = [noise_map(sample, level) for level in (1, 2)]
    assert not np.allclose(fields[0], fields[1])
    np.testing.assert_array_equal(noise_map(sample, 1), fields[0])


@EVERY
def test_axis_rounding_is_a_fifth_of_the_tolerance_at_most(category: Category) -> None:
    names = set(category.quantity.names)
    if names & (PLACES_ALONG_ROWS | PLACES_ALONG_COLUMNS):
        assert Sample(category, 0, 100).gamma / 5 > 0.5e-4


@pytest.mark.parametrize("name", [name for name, c in CATEGORIES.items() if c.domain in "ABC" and "rate" in c.ranges])
def test_lines_are_as_wide_as_the_coarsest_pixels(name: str) -> None:
    """The impurity floor: at least 5 meV, and a half width of one pixel of the 50 table."""
    category = CATEGORIES[name]
    for index in DRAWS:
        sample = Sample(category, index, COARSEST)
        parameters = sample.parameters
        assert parameters["rate"] >= LOWEST_RATE
        if "v" in parameters and category.domain != "C":
            assert parameters["rate"] / abs(parameters["v"]) >= 0.99 * sample.axes.x.pixel
        if name in ("C2", "C3", "C4", "C5"):
            assert parameters["rate"] / abs(parameters["v"]) >= 0.99 * sample.axes.x.pixel
        if name == "C1":
            assert 2 * parameters["rate"] / abs(parameters["v"]) >= 2.5 * sample.axes.x.pixel


@pytest.mark.parametrize("name", ["B1", "B3", "C2"])
def test_matrix_elements_move_no_peak_by_more_than_half_the_tolerance(name: str) -> None:
    category = CATEGORIES[name]
    for index in DRAWS:
        sample = Sample(category, index, 100)
        left, right = sample.axes.x.start, sample.axes.x.stop
        assert abs(sample.parameters["m1"]) <= 0.5
        if name == "B1":
            p = sample.parameters
            half = (p["rate"] + p["fermi_liquid"] * 0.25**2) / abs(p["v"])
            slope = abs(p["m1"]) / (0.5 * (right - left))
            assert 0.5 * slope * half**2 <= 0.51 * GAMMA_MOMENTUM


@pytest.mark.parametrize("name", CATEGORIES)
def test_the_fermi_level_is_not_the_last_row(name: str) -> None:
    category = CATEGORIES[name]
    if category.map_kind is MapKind.ENERGY_MOMENTUM:
        for index in DRAWS:
            above = (Sample(category, index, 50).axes.y.centers > 0).sum()
            assert above >= 5
