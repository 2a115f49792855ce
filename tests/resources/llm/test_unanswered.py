"""The closing lines for what a budget stopped and for what a provider failed at."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from resources.lake import Column, Lake, LakeTable
from resources.llm.batched import WAITS
from resources.llm.unanswered import failed_at_provider, stopped_by_budget
from resources.model_entry import ModelEntry
from resources.settings import read_settings

COLUMNS = (
    Column("model", pa.string(), "who"),
    Column("status", pa.string(), "how it ended"),
    Column("error", pa.string(), "why", nullable=True),
)
REPLIES = LakeTable("replies", "Replies.", ("model",), COLUMNS)


def entry(name: str, **more: object) -> ModelEntry:
    fields = {"name": name, "provider": "openai_compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    return ModelEntry.model_validate({**fields, **more})


@pytest.mark.parametrize(
    ("ceilings", "raised"),
    [
        ({"CONDMAT_BUDGET_DAY_USD": "1"}, "CONDMAT_BUDGET_DAY_USD"),
        ({"CONDMAT_BUDGET_RUN_USD": "1"}, "CONDMAT_BUDGET_RUN_USD"),
        (
            {"CONDMAT_BUDGET_RUN_USD": "1", "CONDMAT_BUDGET_DAY_USD": "0.5"},
            "CONDMAT_BUDGET_RUN_USD or CONDMAT_BUDGET_DAY_USD",
        ),
    ],
)
def test_a_line_for_each_model_that_was_stopped(tmp_path: Path, ceilings: dict[str, str], raised: str) -> None:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path), **ceilings})
    lake = Lake(settings.lake)
    endings = {"some": ["ok", *["budget_stopped"] * 1500], "none": ["ok", "provider_error"], "off": ["budget_stopped"]}
    for model, statuses in endings.items():
        rows = [{"model": model, "status": status, "error": None} for status in statuses]
        lake.write(REPLIES, {"model": model}, REPLIES.rows(rows), {})
    asked = [entry("some"), entry("none"), entry("capped", ceiling_usd=2), entry("new")]
    assert stopped_by_budget(lake, [REPLIES], asked, settings, {"capped": 3, "some": 1}) == [
        f"not asked: some: 1,501 requests (budget); raise {raised} and run again",
        f"not asked: capped: 3 requests (budget); raise {raised} or the ceiling_usd of capped and run again",
    ]


def test_a_line_for_each_model_whose_provider_failed(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    refused, busy = "connection: refused", "HTTP 503: busy"
    failed = ("provider_error", refused)
    endings = {
        "dead": [failed, failed, ("provider_error", busy)],
        "mute": [("ok", None), ("provider_error", None)],
        "batch": [("provider_error", WAITS), ("ok", None)],
        "well": [("ok", None), ("budget_stopped", "the ceiling")],
        "off": [failed],
    }
    for model, ended in endings.items():
        rows = [{"model": model, "status": status, "error": error} for status, error in ended]
        lake.write(REPLIES, {"model": model}, REPLIES.rows(rows), {})
    asked = [entry(name) for name in ("dead", "mute", "batch", "well", "new")]
    assert failed_at_provider(lake, [REPLIES], asked) == [
        "not answered: dead: 3 requests; connection: refused; mend that and run again",
        "not answered: mute: 1 request; no reason given; mend that and run again",
    ]
