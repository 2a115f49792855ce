"""A run for a process of its own, which tests kill."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection

from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.model_entry import ModelEntry, Parameters


def requests(count: int) -> list[ChatRequest]:
    """The evaluation's questions."""
    return [ChatRequest([{"role": "user", "content": f"question-{number}"}]) for number in range(count)]


def entry(address: str) -> ModelEntry:
    """The model on the test's server."""
    return ModelEntry(
        name="mock",
        provider="openai_compatible",
        model="m",
        base_url=f"{address}/v1",
        free=True,
        max_concurrency=16,
        parameters=Parameters(max_output_tokens=16),
    )


def run(url: str, address: str, count: int, answers: Connection) -> None:
    """Ask everything; send each answer's hash as it is given."""

    async def ask() -> None:
        with Ledger(url) as ledger:
            async for answer in ask_all(requests(count), entry(address), ledger, {}):
                answers.send(answer.hash)

    asyncio.run(ask())
