"""What entrants that look at nothing can score is what the declared ranges alone give away."""

import numpy as np
import pytest

from cme_assets.closed_book import ClosedBookProblem, Exhibit, ListedValues
from cme_assets.problems import DRAWS, Sample
from cme_assets.scoring import lorentzian_score
from cme_assets.solvers.trivial import example_mean, example_position
from cme_assets.tables import Table
from cme_assets.tasks.catalogue import CATEGORIES
from cme_assets.tasks.category import Category

BLIND = {"example-mean": example_mean, "example-position": example_position}
OTHER_PROBLEMS = 40
COSTLY_PROBLEMS = 10
"""Fewer where each draw solves for chemical potentials."""

PLAIN_RANGES = {"D1": (0.020, 0.075, 0.003), "D4": (0.020, 0.075, 0.003), "G4": (0.015, 0.12, 0.005)}
"""Categories whose answer is one uniform number: low, high and gamma, copied from the catalogue of tasks by hand."""


def _blank_exhibit(sample: Sample) -> Exhibit:
    rows, columns = sample.axes.printed_y, sample.axes.x.centers
    listed = None
    if sample.listed is not None:
        axis, places = ("row", rows) if sample.listed.axis == "y" else ("column", columns)
        listed = ListedValues(axis, tuple(places[sample.listed.positions]))
    blank = Table("", rows, columns, np.zeros((rows.size, columns.size), dtype=np.int64))
    return Exhibit(blank, (), listed, tuple(sample.truth))


def _blind_scores(category: Category, first_draw: int) -> dict[str, float]:
    """Scores of the blind entrants on the problem made of four draws; they are the same at every level."""
    samples = [Sample(category, first_draw + n, 100) for n in range(DRAWS)]
    exhibits = [_blank_exhibit(sample) for sample in samples]
    problem = ClosedBookProblem(
        category.id, category.map_kind, "", "", category.quantity, 0.0, 0.0, tuple(exhibits[:3]), exhibits[3]
    )
    question = samples[3]
    return {name: lorentzian_score(entrant(problem), question.truth, question.gamma) for name, entrant in BLIND.items()}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_blind_entrants_score_what_the_ranges_give_away() -> None:
    benchmark: dict[str, list[float]] = {name: [] for name in BLIND}
    means: dict[str, list[float]] = {name: [] for name in BLIND}
    variances: dict[str, list[float]] = {name: [] for name in BLIND}
    for category in CATEGORIES.values():
        others = COSTLY_PROBLEMS if category.domain == "E" else OTHER_PROBLEMS
        here = _blind_scores(category, 0)
        elsewhere = [_blind_scores(category, DRAWS * (n + 1)) for n in range(others)]
        for name in BLIND:
            scores = np.array([score[name] for score in elsewhere])
            benchmark[name].append(here[name])
            means[name].append(scores.mean())
            variances[name].append(scores.var(ddof=1) * (1 + 1 / others))
            # One problem among others of its kind: no rarer than one in about five hundred.
            assert here[name] <= scores.mean() + 6 * scores.std(ddof=1) + 0.05, (category.id, name)
    for name in BLIND:
        surplus = np.sum(benchmark[name]) - np.sum(means[name])
        assert abs(surplus) < 3 * np.sqrt(np.sum(variances[name])), name
    expected = dict(zip(CATEGORIES, means["example-mean"], strict=True))
    for name, (low, high, gamma) in PLAIN_RANGES.items():
        answers = np.random.default_rng(0).uniform(low, high, (4, 100_000))
        errors = answers[3] - answers[:3].mean(axis=0)
        # Forty problems leave a sampling error of about 0.04.
        assert expected[name] == pytest.approx(np.mean(1 / (1 + (errors / gamma) ** 2)), abs=0.13), name
