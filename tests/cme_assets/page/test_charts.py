"""Where marks go, against arithmetic."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cme_assets.page.charts import Scale, score_chart


def test_scale_and_ticks() -> None:
    scale = Scale(-0.25, 0.05, 150, 0)
    assert (scale(-0.25), scale(0.05), scale(-0.1)) == (150, 0, 75)
    assert scale.ticks() == [(125.0, "−0.2"), (75.0, "−0.1"), (25.0, "0.0")]


@given(st.floats(-30, 30), st.floats(0.01, 50))
def test_ticks_are_within_and_say_where_they_are(low: float, width: float) -> None:
    scale = Scale(low, low + width, 10, 200)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 9
    for at, label in ticks:
        assert 10 <= at <= 200
        assert scale(float(label.replace("−", "-"))) == pytest.approx(at, abs=0.02)
    assert len({label for _, label in ticks}) == len(ticks)


def test_chart_keeps_values_and_separates_labels() -> None:
    lines = [(f"model {n}", n, [(0.0, 0.5, 0.4, 0.6), (4.0, 0.3, None, None)]) for n in range(10)]
    chart = score_chart(lines, [(0.0, "0"), (4.0, "4")], "level")
    assert len(chart.series) == 10
    for series in chart.series:
        assert [mark.y for mark in series.marks] == [chart.y(0.5), chart.y(0.3)]
        assert (series.marks[0].low, series.marks[0].high) == (chart.y(0.4), chart.y(0.6))
        assert series.marks[1].low is None
    labels = sorted(series.label_y for series in chart.series)
    assert all(upper - lower >= 13.9 for lower, upper in itertools.pairwise(labels))
    assert {series.classes for series in chart.series} == {f"c{n % 8} d{n // 8}" for n in range(10)}


def test_low_scores_are_not_blown_up() -> None:
    chart = score_chart([("m", 0, [(0.0, 0.01, None, None)])], [(0.0, "0"), (1.0, "1")], "level")
    assert chart.y.high >= 0.25
