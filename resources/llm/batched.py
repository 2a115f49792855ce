"""Replies of models whose entry says `batch: true`: handed in for half the price, and collected by a later run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

from resources.llm.answer import Answer
from resources.llm.batch import collect, submit
from resources.llm.budget import Budget
from resources.llm.client import Client
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.model_entry import ModelEntry
from resources.outcomes import Status

WAITING = "waits for its batch"
"""What a question is called whose batch is under way; its status, until there is an answer, is the contract's."""
WAITS = "waits for its batch at the provider; the next run collects it"


async def replies_by_batch(
    requests: Callable[[], Iterable[ChatRequest]],
    entry: ModelEntry,
    ledger: Ledger,
    keys: Mapping[str, str],
    budget: Budget,
) -> AsyncGenerator[Answer, None]:
    """An answer to each of `requests()`: what the ledger has by now; the rest is handed in and left unanswered.

    Raises LedgerError; a provider that does not take the batch is the reason why requests are unanswered.
    """
    why = WAITS
    try:
        await collect(entry, ledger, keys)
        await submit(requests(), entry, ledger, keys, budget)
    except LedgerError:
        raise
    except Exception as error:  # whatever the kit and the network raise; its words may hold the key
        code = getattr(error, "status_code", None)
        why = f"the batch could not be handed in or collected: {type(error).__name__}" + (f" {code}" if code else "")
    client = Client(entry, ledger, keys, budget)
    for request in requests():
        digest = client.wire(request).hash
        found = ledger.lookup([digest]).get(digest)
        if found is not None:
            yield client.answer(request, digest, found)
        else:
            yield Answer(request, digest, Status.PROVIDER_ERROR, error=why)
