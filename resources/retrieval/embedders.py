"""Vectors of texts: from a model behind an OpenAI-compatible endpoint, or from one that ships in a wheel."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from resources.llm.client import Client
from resources.llm.providers.openai_embeddings import decoded_vectors
from resources.llm.request import ChatRequest
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.tokens import first_tokens

LOCAL = "wordllama"
TEXTS_AT_ONCE, CHARACTERS_AT_ONCE = 128, 200_000
LONGEST_TEXT = 8000
"""o200k tokens; OpenAI's embedders refuse texts of more than 8191 of their own."""


class EmbeddingFailed(Exception):
    """A provider that gave no vectors; `status` says how, the text why."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Embedder(Protocol):
    """Makes vectors. Two embedders of one `name` make the same vectors of the same texts."""

    @property
    def name(self) -> str:
        """Identity, also of the stored vectors."""

    async def embed(self, texts: Sequence[str], purpose: str) -> np.ndarray:
        """Float32 vectors of shape (number of texts, dimensions). Raises EmbeddingFailed."""


class WordLlamaEmbedder:
    """The default without a key: averaged token vectors of WordLlama, 256 dimensions; weights ship in its wheel."""

    name = "wordllama-l2-supercat-256"

    async def embed(self, texts: Sequence[str], purpose: str = "") -> np.ndarray:
        """See `Embedder`; nothing is asked and nothing downloaded."""
        del purpose
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> np.ndarray:
        return np.asarray(_wordllama().embed(texts, norm=True), dtype=np.float32)


@cache
def _wordllama() -> Any:
    from wordllama import WordLlama

    package = importlib.util.find_spec("wordllama")
    assert package is not None
    assert package.origin is not None
    # Its tokenizer is looked for below the cache folder, else on the network; the wheel has it in its own.
    return WordLlama.load(cache_dir=Path(package.origin).parent, disable_download=True)


class EndpointEmbedder:
    """An embedder of `models.yaml`, asked through the ledger: a text's vector is paid for once."""

    def __init__(self, entry: ModelEntry, client: Client) -> None:
        self._entry, self._client = entry, client

    @property
    def name(self) -> str:
        return embedder_name(self._entry)

    async def embed(self, texts: Sequence[str], purpose: str) -> np.ndarray:
        """See `Embedder`. Texts go out in the same groups each time, so that a killed run finds them in the ledger."""
        places = asyncio.Semaphore(self._entry.max_concurrency)

        async def ask(group: Sequence[str]) -> np.ndarray:
            async with places:
                return await self._ask(group, purpose)

        groups = list(_groups([first_tokens(text, LONGEST_TEXT) for text in texts]))
        # All end before any error is told, so that what was paid for is in the ledger.
        found = await asyncio.gather(*(ask(group) for group in groups), return_exceptions=True)
        vectors = [result for result in found if isinstance(result, np.ndarray)]
        for result in found:
            if isinstance(result, BaseException):
                raise result
        if len({part.shape[1] for part in vectors}) > 1:
            raise EmbeddingFailed(Status.PROVIDER_ERROR, f"{self.name}: vectors of different length")
        return np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32)

    async def _ask(self, texts: Sequence[str], purpose: str) -> np.ndarray:
        request = ChatRequest([{"role": "user", "content": text} for text in texts], purpose=purpose)
        answer = await self._client.ask(request)
        if answer.status is not Status.OK:
            # An embedder answers no question: whatever it refuses is a failure of ours or of the provider.
            status = answer.status if not answer.status.is_scored else Status.PROVIDER_ERROR
            raise EmbeddingFailed(status, f"{self.name}: {answer.status}: {answer.error or 'no reason given'}")
        vectors = decoded_vectors(answer.text)
        if len(vectors) != len(texts):
            raise EmbeddingFailed(Status.PROVIDER_ERROR, f"{self.name}: {len(vectors)} vectors of {len(texts)} texts")
        return vectors


def embedder_name(entry: ModelEntry) -> str:
    """Identity of an entry's vectors: its name, and every setting that changes them."""
    settings = ",".join(f"{key}={value}" for key, value in sorted(entry.parameters.extra_body.items()))
    return f"{entry.name}({settings})" if settings else entry.name


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        if group and (len(group) == TEXTS_AT_ONCE or size + len(text) > CHARACTERS_AT_ONCE):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group
