"""Replies held to a JSON schema: asked for where the model's capabilities say so, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from resources.llm.ledger import Ledger
from resources.llm.providers import provider_of
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.model_entry import Capabilities, ModelEntry, Parameters
from resources.outcomes import Status
from tests.servers.faulty import FaultyServer, running

from .conftest import ENVIRONMENT

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"wrong": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}},
    "required": ["wrong"],
    "additionalProperties": False,
}
REQUEST = ChatRequest([{"role": "user", "content": "word"}], schema=SCHEMA)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "openai_compatible"])
async def test_the_schema_reaches_the_wire(entry_for: Callable[..., ModelEntry], ledger: Ledger, provider: str) -> None:
    server = FaultyServer()
    with running(server) as address:
        entry = entry_for(provider, address, capabilities=Capabilities(structured=True))
        statuses = [answer.status async for answer in ask_all([REQUEST], entry, ledger, ENVIRONMENT)]
    assert statuses == [Status.OK]
    (body,) = server.log.bodies
    if provider == "anthropic":
        form = body["output_config"]["format"]
        sent = form["schema"]
        # This endpoint refuses such limits; the words remain.
        assert "3" in sent["properties"]["wrong"].pop("description")
        unlimited = {"wrong": {"type": "array", "items": {"type": "string"}}}
        assert sent == {**SCHEMA, "properties": unlimited}
    else:
        form = body["response_format"]
        assert form["json_schema"]["strict"] is True
        assert form["json_schema"]["schema"] == SCHEMA
    assert form["type"] == "json_schema"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "openai_compatible"])
def test_nothing_is_sent_to_others(entry_for: Callable[..., ModelEntry], provider: str) -> None:
    entry = entry_for(provider, "http://127.0.0.1:9", capabilities=Capabilities(structured=False))
    plain = ChatRequest(REQUEST.messages)
    assert provider_of(entry).body(entry, REQUEST) == provider_of(entry).body(entry, plain)


def test_effort_and_schema_share_the_field(entry_for: Callable[..., ModelEntry]) -> None:
    entry = entry_for(
        "anthropic",
        "http://127.0.0.1:9",
        capabilities=Capabilities(structured=True, efforts=("low",)),
        parameters=Parameters(effort="low"),
    )
    config = provider_of(entry).body(entry, REQUEST)["output_config"]
    assert (config["effort"], config["format"]["type"]) == ("low", "json_schema")
