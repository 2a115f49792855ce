"""What providers' lists of models say, in each provider's own form, over HTTP."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from aiohttp import web

from resources.llm.listing import ListedModel, differences, list_models
from resources.model_entry import ModelEntry
from tests.servers.faulty import running

from .conftest import ENVIRONMENT, KEY

YES, NO = {"supported": True}, {"supported": False}
EFFORT = {"supported": True, "low": YES, "medium": YES, "high": YES, "max": NO, "xhigh": None}
ANTHROPIC_PAGES = [
    {"data": [{"id": "first", "type": "model"}], "has_more": True, "first_id": "first", "last_id": "first"},
    {
        "data": [
            {
                "id": "wire-model",
                "type": "model",
                "retires_at": "2027-02-01T00:00:00Z",
                "max_input_tokens": 200_000,
                "max_tokens": 64_000,
                "capabilities": {"batch": YES, "effort": EFFORT},
            }
        ],
        "has_more": False,
        "last_id": "wire-model",
    },
]
OPENAI = {
    "object": "list",
    "data": [
        {"id": "wire-model", "object": "model", "created": 1, "owned_by": "x", "shutdown_date": "2026-12-11"},
        {"id": "served-by-vllm", "object": "model", "max_model_len": 32_768},
    ],
}


class Lists:
    """A server with nothing but lists."""

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/v1/models", self._models)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        if "anthropic-version" not in request.headers:
            return web.json_response(OPENAI)
        return web.json_response(ANTHROPIC_PAGES[1 if request.query.get("after_id") == "first" else 0])


async def test_lists_are_read(entry_for: Callable[..., ModelEntry]) -> None:
    with running(Lists()) as address:
        anthropic = await list_models(entry_for("anthropic", address), ENVIRONMENT)
        openai = await list_models(entry_for("openai", address), ENVIRONMENT)
    assert list(anthropic) == ["first", "wire-model"]
    expected = ListedModel("wire-model", "2027-02-01T00:00:00Z", 200_000, 64_000, True, ("low", "medium", "high"))
    assert anthropic["wire-model"] == expected
    assert openai["wire-model"] == ListedModel("wire-model", "2026-12-11")
    assert openai["served-by-vllm"].context_length == 32_768


@pytest.mark.parametrize(
    ("listed", "fields", "says"),
    [
        ({}, {}, "is not among the 0 models"),
        ({"ends": "2026-12-11"}, {}, "ends on 2026-12-11"),
        ({"context_length": 8_192}, {"context_length": 4_096}, "context_length is 8192 there, 4096 in models.yaml"),
        ({"max_output_tokens": 10}, {}, "may be at most 10, models.yaml has 100"),
        ({"batch": False}, {"batch": True, "capabilities": {"batch": True}}, "there is no batch endpoint"),
        (
            {"efforts": ("low",)},
            {"parameters": {"effort": "high"}, "capabilities": {"efforts": ["high"]}},
            "effort is one of low, not high",
        ),
    ],
)
def test_each_difference_is_one_line(
    listed: dict[str, object], fields: dict[str, object], says: str, entry_for: Callable[..., ModelEntry]
) -> None:
    entry = entry_for("openai", "http://h", **fields)
    found = {"wire-model": ListedModel("wire-model", **listed)} if listed else {}  # type: ignore[arg-type]
    (line,) = differences(entry, found)
    assert says in line
    assert line.startswith("test: ")


def test_agreement_says_nothing(entry_for: Callable[..., ModelEntry]) -> None:
    assert differences(entry_for("openai", "http://h"), {"wire-model": ListedModel("wire-model")}) == []
