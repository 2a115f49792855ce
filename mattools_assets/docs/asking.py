"""Asking for documents through the project's client: every request in the ledger, never paid for twice."""

from __future__ import annotations

import asyncio

from mattools_assets.docs.graph import Documented
from mattools_assets.docs.writing import Ask, Reply
from resources.llm.answer import Tally
from resources.llm.client import Client
from resources.llm.request import ChatRequest


def asking(client: Client, at_once: int, purpose: str = "llm_docs", tally: Tally | None = None) -> Ask:
    """A way to ask `client`'s model; `at_once` requests are claimed in the ledger at a time, the others wait.

    `tally` counts the answers with their tokens and dollars.
    """
    places = asyncio.Semaphore(at_once)

    async def ask(_item: Documented, prompt: str) -> Reply:
        async with places:
            answer = await client.ask(ChatRequest([{"role": "user", "content": prompt}], purpose=purpose))
        if tally is not None:
            tally.add(answer)
        return Reply(answer.status, answer.text, answer.error or "")

    return ask
