"""What a reply is worth, by how the request ended and what could be read from it."""

from __future__ import annotations

import pytest

from cme_assets.answers import Reading, read_strict
from cme_assets.stages.judging import judge
from resources.outcomes import MODEL_FAILURES, NOT_THE_MODELS_FAULT, Status

TRUTH, GAMMA = [1.0, 2.0], 0.1


@pytest.mark.parametrize("status", sorted(NOT_THE_MODELS_FAULT))
def test_what_is_not_the_models_fault_has_no_score(status: Status) -> None:
    scored = judge(status, read_strict("<answer>[1.0, 2.0]</answer>", 2), TRUTH, GAMMA)
    assert (scored.status, scored.score, scored.values) == (status, None, None)


@pytest.mark.parametrize("status", sorted(MODEL_FAILURES))
def test_the_models_own_failures_score_nothing(status: Status) -> None:
    scored = judge(status, Reading(None, Status.UNPARSEABLE), TRUTH, GAMMA)
    assert (scored.status, scored.score) == (status, 0.0)


@pytest.mark.parametrize(
    ("reply", "status", "score"),
    [
        ("<answer>[1.0, 2.0]</answer>", Status.OK, 1.0),
        ("<answer>[1.1, 1.9]</answer>", Status.OK, 0.5),  # both off by gamma
        ("<answer>[1.0, 2.1]</answer>", Status.OK, 0.75),
        ("<answer>[1.0]</answer>", Status.WRONG_SHAPE, 0.0),
        ("1.0, 2.0", Status.UNPARSEABLE, 0.0),
    ],
)
def test_a_reply_that_was_read_is_scored_by_its_distance(reply: str, status: Status, score: float) -> None:
    scored = judge(Status.OK, read_strict(reply, 2), TRUTH, GAMMA)
    assert scored.status is status
    assert scored.score == pytest.approx(score)
