"""A real model, served on this machine by llama.cpp, through the whole graph: prompts, ledger, scores, transcripts."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from cme_assets import schemas
from cme_assets.page.transcripts import slug, write_transcripts
from resources.lake import Lake
from resources.llm.ledger import Ledger
from resources.local_model import CONTEXT, NAME, LocalModelError, serving
from resources.registry import load_registry
from resources.settings import Settings, read_settings
from tests.served_models import bring_served

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(2400)]

ENTRIES = Path(__file__).parents[2] / "models.yaml"
CATEGORY = {"category": "A1"}
MODEL = {"model": NAME, **CATEGORY}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    try:
        with serving(threads=1) as there:
            yield there
    except LocalModelError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def finished(address: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The entry of models.yaml, asked two problems at 16 x 16 and one at 50 x 50, which its context does not hold."""
    folder = tmp_path_factory.mktemp("local")
    models = folder / "models.yaml"
    models.write_text("models: [{name: centre, provider: reference}]")
    settings = read_settings(
        {"CONDMAT_DATA": str(folder / "data"), "CONDMAT_PROFILE": "fast", "CONDMAT_MODELS": str(models)}
    )
    settings, lake = replace(settings, resolutions=(16, 50)), Lake(settings.lake)
    with dg.DagsterInstance.ephemeral() as instance:
        bring_served(settings, instance)
        keep_few(lake)
        entry = load_registry(ENTRIES)[NAME].model_dump(mode="json", exclude_defaults=True)
        entry |= {"base_url": address, "enabled": True, "max_concurrency": 1, "resolutions": [16, 50]}
        entry["parameters"] |= {"max_output_tokens": 48}
        models.write_text(yaml.safe_dump({"models": [entry]}))
        bring_served(settings, instance)
    return settings


def keep_few(lake: Lake) -> None:
    """Leave three prompts of A1 and none of B1; a small model reads a table for a minute."""
    for category, wanted in (("A1", {(16, 0), (16, 4), (50, 0)}), ("B1", set())):
        stored = lake.stored(schemas.PROMPTS, {"category": category})
        assert stored is not None
        rows = lake.read(schemas.PROMPTS, {"category": category}).to_pylist()
        few = [row for row in rows if (row["resolution"], row["level"]) in wanted]
        lake.write(schemas.PROMPTS, {"category": category}, schemas.PROMPTS.rows(few), stored.provenance)


def rows_of(settings: Settings, table: Any) -> dict[tuple[int, int], dict[str, Any]]:
    return {(row["resolution"], row["level"]): row for row in Lake(settings.lake).read(table, MODEL).to_pylist()}


def test_the_entry_is_off_until_asked_for_and_fits_the_server(address: str) -> None:
    entry = load_registry(ENTRIES)[NAME]
    assert (entry.why_off({}) or "").endswith("models.yaml says enabled: false")
    with urllib.request.urlopen(f"{address}/models") as response:
        assert [model["id"] for model in json.load(response)["data"]] == [entry.model]
    assert entry.context_length == CONTEXT


def test_replies_have_usage_and_score_next_to_nothing(finished: Settings) -> None:
    replies, scores = rows_of(finished, schemas.DIRECT_RESPONSES), rows_of(finished, schemas.DIRECT_SCORES)
    assert set(replies) == set(scores) == {(16, 0), (16, 4), (50, 0)}
    for place in ((16, 0), (16, 4)):
        reply = replies[place]
        assert reply["status"] in ("ok", "truncated"), reply["error"]
        assert 1_000 < reply["prompt_tokens"] <= CONTEXT
        assert 0 < reply["completion_tokens"] <= 48
        assert reply["served_model"] == NAME
        assert (reply["cost_usd"], reply["attempts"]) == (0.0, 1)
        assert reply["latency_s"] > 0
        assert reply["reply"].strip()
        assert scores[place]["score"] is not None
        assert scores[place]["score"] < 0.2, "a lucky hit is possible, and would be news"


def test_a_table_that_does_not_fit_overflows(finished: Settings) -> None:
    reply, score = (rows_of(finished, t)[50, 0] for t in (schemas.DIRECT_RESPONSES, schemas.DIRECT_SCORES))
    assert (reply["status"], reply["reply"], reply["cost_usd"], reply["prompt_tokens"]) == (
        "context_overflow",
        "",
        0.0,
        0,
    )
    assert (score["status"], score["score"]) == ("context_overflow", 0.0)


def test_the_ledger_has_every_request_as_sent(finished: Settings) -> None:
    replies = rows_of(finished, schemas.DIRECT_RESPONSES)
    prompts = {
        row["problem_id"]: row["prompt"]
        for row in Lake(finished.lake).read(schemas.PROMPTS, CATEGORY).to_pylist()
        if row["resolution"] == 16
    }
    with Ledger(finished.ledger_url) as ledger:
        stored = ledger.lookup([reply["request_hash"] for reply in replies.values()])
        assert len(stored) == 3
        for place, reply in replies.items():
            kept = stored[reply["request_hash"]]
            assert (str(kept.status), kept.attempts) == (reply["status"], 1)
            if place[0] == 16:
                body = ledger.body(reply["request_hash"])
                assert body["messages"] == [{"role": "user", "content": prompts[reply["problem_id"]]}]
                assert (body["temperature"], body["max_tokens"]) == (0.7, 48)
                assert kept.attempt.usage.prompt_tokens == reply["prompt_tokens"]


def test_a_second_run_asks_nothing_and_the_replies_can_be_read(finished: Settings, tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        assert bring_served(finished, instance).runs == 0
    write_transcripts(Lake(finished.lake), tmp_path)
    page = tmp_path / "transcripts" / slug((NAME, "direct", "published", 16)) / "A1.html"
    assert "A1-L4" in page.read_text(encoding="utf-8")
