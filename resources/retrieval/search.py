"""Finding chunks: exact search by cosine similarity in DuckDB, or by words (BM25)."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import bm25s
import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from resources.retrieval.documents import Chunk
from resources.retrieval.embedders import Embedder

BM25 = "bm25"
K1, B = 1.5, 0.75

_WORD = re.compile(r"[A-Za-z0-9_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found; the higher the score, the better. `rank` counts from 1."""

    chunk: Chunk
    score: float
    rank: int


class Index(Protocol):
    """The chunks of one source, searchable."""

    async def search(self, query: str, k: int, purpose: str = "") -> list[Hit]:
        """The `k` best chunks, the best first. Raises EmbeddingFailed."""


class VectorIndex:
    """Exact nearest neighbours of the query's vector, by DuckDB's `array_cosine_similarity`; ties by chunk id."""

    def __init__(self, chunks: Sequence[Chunk], vectors: pa.Table, embedder: Embedder) -> None:
        self._chunks = {chunk.id: chunk for chunk in chunks}
        self._embedder = embedder
        self._lock = threading.Lock()
        lengths = set(pc.list_value_length(vectors.column("vector")).to_pylist())
        self._length = lengths.pop() if lengths else 0
        self._database = duckdb.connect()
        if self._length:
            names = pa.table({"chunk_id": list(self._chunks), "text_hash": [chunk.text_hash for chunk in chunks]})
            self._database.register("names", names)
            self._database.register("vectors", vectors)
            self._database.execute(
                f"create table chunks as select chunk_id, vector::float[{self._length}] as vector "
                "from names join vectors using (text_hash)"
            )
            self._database.unregister("vectors")

    async def search(self, query: str, k: int, purpose: str = "") -> list[Hit]:
        """See `Index`."""
        vector = (await self._embedder.embed([query], purpose))[0]
        return await asyncio.to_thread(self.nearest, vector, k)

    def nearest(self, vector: np.ndarray, k: int) -> list[Hit]:
        """The `k` chunks whose vectors have the greatest cosine with `vector`."""
        if not self._length:
            return []
        statement = (
            f"select chunk_id, array_cosine_similarity(vector, ?::float[{self._length}]) as score from chunks "
            "order by score desc, chunk_id limit ?"
        )
        with self._lock:
            rows = self._database.execute(statement, [vector.tolist(), k]).fetchall()
        return [Hit(self._chunks[name], score, rank) for rank, (name, score) in enumerate(rows, 1)]


class WordIndex:
    """BM25 (as Lucene computes it, k1 = 1.5, b = 0.75) over words and the parts of identifiers; ties by order."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = list(chunks)
        self._index = bm25s.BM25(k1=K1, b=B, method="lucene")
        if self._chunks:
            self._index.index([words(f"{chunk.title}\n{chunk.text}") for chunk in chunks], show_progress=False)

    async def search(self, query: str, k: int, purpose: str = "") -> list[Hit]:
        """See `Index`; nothing is asked."""
        del purpose
        return await asyncio.to_thread(self.best, query, k)

    def best(self, query: str, k: int) -> list[Hit]:
        """The `k` chunks of the highest score above zero."""
        known = [word for word in dict.fromkeys(words(query)) if word in self._index.vocab_dict] if self._chunks else []
        if not known:
            return []
        scores = self._index.get_scores(known)
        order = np.argsort(-scores, kind="stable")[:k]
        return [
            Hit(self._chunks[place], float(scores[place]), rank)
            for rank, place in enumerate(order, 1)
            if scores[place] > 0
        ]


def words(text: str) -> list[str]:
    """Words in lower case; an identifier counts whole and by its parts (`SpacegroupAnalyzer`, `get_sites`)."""
    found = []
    for word in _WORD.findall(text):
        parts = [part.lower() for part in _PART.findall(word)]
        found.append(word.lower())
        if len(parts) > 1:
            found += parts
    return found
