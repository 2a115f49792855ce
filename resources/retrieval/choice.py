"""Which embedder is used: an entry of `models.yaml`, the local default, or none at all but words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from resources.llm.budget import Budget
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.model_entry import ModelEntry
from resources.registry import Registry, RegistryError
from resources.retrieval.embedders import LOCAL, Embedder, EndpointEmbedder, WordLlamaEmbedder, embedder_name
from resources.retrieval.search import BM25

AUTO = "auto"


class EmbedderError(ValueError):
    """A setting that names no embedder that can be used; one line with the mend."""


def chosen_entry(choice: str, registry: Registry, environment: Mapping[str, str]) -> ModelEntry | None:
    """The entry whose vectors are used, None for the local embedder and for words. Raises EmbedderError.

    `auto` takes the first entry with the protocol `embeddings` that is enabled and has its key.
    """
    if choice in (LOCAL, BM25):
        return None
    if choice == AUTO:
        return next((entry for entry in registry.runnable(environment) if entry.is_embedder), None)
    try:
        entry = registry[choice]
    except RegistryError:
        entry = None
    if entry is None or not entry.is_embedder:
        raise EmbedderError(
            f"CONDMAT_EMBEDDER={choice!r}: use {AUTO}, {LOCAL}, {BM25}, or an entry of {registry.path.name} whose "
            "protocols are [embeddings]"
        )
    if why := entry.why_off(environment):
        raise EmbedderError(why)
    return entry


def chosen_name(choice: str, registry: Registry, environment: Mapping[str, str]) -> str:
    """The embedder's name as it is stored, `bm25` for words. Raises EmbedderError."""
    if choice == BM25:
        return BM25
    entry = chosen_entry(choice, registry, environment)
    return WordLlamaEmbedder.name if entry is None else embedder_name(entry)


@asynccontextmanager
async def opened_embedder(
    choice: str, registry: Registry, environment: Mapping[str, str], ledger: Ledger, budget: Budget
) -> AsyncIterator[Embedder | None]:
    """The embedder, None for words. Raises EmbedderError, LedgerError."""
    entry = chosen_entry(choice, registry, environment)
    if entry is not None:
        async with Client(entry, ledger, environment, budget) as client:
            yield EndpointEmbedder(entry, client)
    else:
        yield None if choice == BM25 else WordLlamaEmbedder()
