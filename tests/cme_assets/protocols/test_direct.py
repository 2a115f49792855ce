"""Reference entrants under the direct protocol."""

from __future__ import annotations

import pytest

from cme_assets import schemas
from cme_assets.protocols.direct import make_reference_replies
from cme_assets.solvers import rowwise
from cme_assets.stages.judging import make_scores
from resources.lake import Lake
from resources.settings import Settings


def test_a_category_without_a_method_has_no_replies_and_no_scores(
    made: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(rowwise.LAWS, "B1")
    lake = Lake(made.lake)
    replies = make_reference_replies(lake, "reference-laws", "B1", "this entrant")
    assert replies.rows.num_rows == 0
    assert "B1: no method yet" in str(replies.remarks)
    lake.write(schemas.DIRECT_RESPONSES, {"model": "reference-laws", "category": "B1"}, replies.rows, {})
    scores = make_scores(lake, schemas.DIRECT_RESPONSES, schemas.DIRECT_SCORES, "reference-laws", "B1")
    assert scores.rows.num_rows == 0


def test_a_solver_that_fails_is_scored_as_a_models_failure(made: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: object) -> None:
        raise ZeroDivisionError("no line found")

    monkeypatch.setitem(rowwise.LAWS, "B1", failing)
    replies = make_reference_replies(Lake(made.lake), "reference-laws", "B1", "this entrant")
    rows = replies.rows.to_pylist()
    assert {row["status"] for row in rows} == {"code_error"}
    assert {row["error"] for row in rows} == {"ZeroDivisionError: no line found"}
