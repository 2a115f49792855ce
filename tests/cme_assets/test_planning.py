"""Runs cover exactly what is stale."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from cme_assets.planning import Pair, data_runs, evaluation_runs
from resources.ranges import contiguous

CATEGORIES = ("A1", "B1", "B2", "C1", "D1")
MODELS = ("m1", "m2", "m3", "m4")

SOME_CATEGORIES = st.sets(st.sampled_from(CATEGORIES))
SOME_PAIRS = st.sets(st.sampled_from(list(product(MODELS, CATEGORIES))))


def between(order: tuple[str, ...], first: str, last: str) -> tuple[str, ...]:
    return order[order.index(first) : order.index(last) + 1]


@given(SOME_CATEGORIES)
def test_stretches_cover_what_is_wanted_and_touch_nowhere(wanted: set[str]) -> None:
    stretches = contiguous(CATEGORIES, wanted)
    covered = [c for first, last in stretches for c in between(CATEGORIES, first, last)]
    assert sorted(covered) == sorted(wanted)
    ends = [(CATEGORIES.index(first), CATEGORIES.index(last)) for first, last in stretches]
    assert all(start > end + 1 for (_, end), (start, _) in pairwise(ends))


@given(st.fixed_dictionaries({"problems": SOME_CATEGORIES, "spectra": SOME_CATEGORIES, "prompts": SOME_CATEGORIES}))
def test_data_runs_cover_each_asset_once(stale: dict[str, set[str]]) -> None:
    covered = [
        (asset, category)
        for run in data_runs(stale, CATEGORIES)
        for asset in run.assets
        for category in between(CATEGORIES, run.first, run.last)
    ]
    assert sorted(covered) == sorted((asset, category) for asset, wanted in stale.items() for category in wanted)


@given(SOME_PAIRS, SOME_PAIRS)
def test_evaluation_runs_cover_each_pair_once_and_ask_before_they_score(asked: set[Pair], more: set[Pair]) -> None:
    stale = {"responses": asked, "scores": asked | more}
    seen: list[tuple[str, Pair]] = []
    for run in evaluation_runs(stale, MODELS, CATEGORIES):
        models = between(MODELS, run.first[0], run.last[0])
        categories = between(CATEGORIES, run.first[1], run.last[1])
        seen += [(asset, pair) for asset in run.assets for pair in product(models, categories)]
    assert sorted(seen) == sorted((asset, pair) for asset, pairs in stale.items() for pair in pairs)
    order = {entry: place for place, entry in enumerate(seen)}
    assert all(order["responses", pair] < order["scores", pair] for pair in asked)


def test_everything_at_once_is_one_run() -> None:
    every = set(product(MODELS, CATEGORIES))
    (run,) = evaluation_runs({"responses": every, "scores": every}, MODELS, CATEGORIES)
    assert (run.assets, run.first, run.last) == (("responses", "scores"), ("m1", "A1"), ("m4", "D1"))
