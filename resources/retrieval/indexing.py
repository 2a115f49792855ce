"""Vectors beside chunks: only texts that have none yet are embedded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from resources.lake import Lake
from resources.retrieval.embedders import Embedder
from resources.retrieval.tables import (
    RETRIEVAL_CHUNKS,
    RETRIEVAL_VECTORS,
    read_vectors,
    vector_rows,
)


@dataclass(frozen=True)
class Indexed:
    """What was done: texts in all, how many of them had to be embedded, and the rows of RETRIEVAL_VECTORS."""

    texts: int
    embedded: int
    rows: pa.Table


async def index_source(lake: Lake, source: str, embedder: Embedder) -> Indexed:
    """The vectors of a source's chunks, those that are stored and those that were missing, for the caller to store.

    Vectors of texts that are gone are left out. Raises EmbeddingFailed, LakeError.
    """
    chunks = lake.read(RETRIEVAL_CHUNKS, {"source": source}, ["text_hash", "text"])
    texts = dict(zip(chunks.column("text_hash").to_pylist(), chunks.column("text").to_pylist(), strict=True))
    key = {"source": source, "embedder": embedder.name}
    known = read_vectors(lake.read(RETRIEVAL_VECTORS, key)) if lake.stored(RETRIEVAL_VECTORS, key) else {}
    missing = [digest for digest in texts if digest not in known]
    if missing:
        made = await embedder.embed([texts[digest] for digest in missing], f"retrieval index {source}")
        known |= dict(zip(missing, made, strict=True))
    hashes = list(texts)
    matrix = np.stack([known[digest] for digest in hashes]) if hashes else np.empty((0, 0), np.float32)
    return Indexed(len(hashes), len(missing), vector_rows(source, embedder.name, hashes, matrix))
