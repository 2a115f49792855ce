"""What systems may look into: the sources' indexes, and the library's objects by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mattools_assets.source.tables import CODE_OBJECTS
from mattools_assets.systems.base import Entity, Retrieved
from mattools_assets.systems.sources import OBJECT_DOCS, SourceMissing
from resources.lake import Lake
from resources.retrieval.documents import Chunk
from resources.retrieval.embedders import Embedder
from resources.retrieval.search import Index, VectorIndex, WordIndex
from resources.retrieval.tables import RETRIEVAL_CHUNKS, RETRIEVAL_VECTORS, read_chunks


@dataclass(frozen=True)
class Library:
    """Indexes and chunks by source, the label of what each was made from, and entities by id and by plain name.

    Without an `embedder` the indexes search by words.
    """

    indexes: Mapping[str, Index] = field(default_factory=dict)
    chunks: Mapping[str, Sequence[Chunk]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    by_id: Mapping[str, Entity] = field(default_factory=dict)
    by_name: Mapping[str, Sequence[Entity]] = field(default_factory=dict)
    embedder: Embedder | None = None

    async def search(self, source: str, query: str, k: int, purpose: str) -> list[Retrieved]:
        """The `k` chunks nearest to `query`. Raises EmbeddingFailed; SourceMissing for a source not open."""
        if source not in self.indexes:
            raise SourceMissing(f"{source}: not open; materialize retrieval_chunks and retrieval_vectors for it")
        hits = await self.indexes[source].search(query, k, purpose)
        return [
            Retrieved(
                source, hit.chunk.id, hit.chunk.document_id, hit.chunk.title, hit.chunk.text, hit.score, hit.rank, query
            )
            for hit in hits
        ]


def open_library(lake: Lake, sources: Iterable[str], embedder: Embedder | None) -> Library:
    """The sources as they are in the lake; without an embedder, search is by words. Raises SourceMissing, LakeError."""
    indexes: dict[str, Index] = {}
    chunks: dict[str, list[Chunk]] = {}
    labels: dict[str, str] = {}
    for source in dict.fromkeys(sources):
        if lake.stored(RETRIEVAL_CHUNKS, {"source": source}) is None:
            raise SourceMissing(f"{source}: not in the lake; materialize retrieval_chunks for it")
        rows = lake.read(RETRIEVAL_CHUNKS, {"source": source})
        labels[source] = rows.column("documents")[0].as_py() if rows.num_rows else ""
        chunks[source] = read_chunks(rows)
        indexes[source] = _index(lake, source, chunks[source], embedder)
    by_id = _entities(lake) if OBJECT_DOCS in indexes else {}
    by_name: defaultdict[str, list[Entity]] = defaultdict(list)
    for entity in by_id.values():
        by_name[entity.qualified_name.rpartition(".")[2]].append(entity)
    return Library(indexes, chunks, labels, by_id, by_name, embedder)


def _index(lake: Lake, source: str, chunks: Sequence[Chunk], embedder: Embedder | None) -> Index:
    if embedder is None:
        return WordIndex(chunks)
    key = {"source": source, "embedder": embedder.name}
    if lake.stored(RETRIEVAL_VECTORS, key) is None:
        raise SourceMissing(f"{source}: has no vectors of {embedder.name}; materialize retrieval_vectors for it")
    return VectorIndex(chunks, lake.read(RETRIEVAL_VECTORS, key), embedder)


def _entities(lake: Lake) -> dict[str, Entity]:
    """Classes, methods and functions; files and folders have no plain name that a model would give."""
    chunks = lake.read(RETRIEVAL_CHUNKS, {"source": OBJECT_DOCS}, ["document_id", "text"])
    documents = dict(zip(chunks.column("document_id").to_pylist(), chunks.column("text").to_pylist(), strict=True))
    rows = lake.read(CODE_OBJECTS, {}, ["object_id", "qualified_name", "code"]).to_pylist()
    return {
        row["object_id"]: Entity(
            row["object_id"], row["qualified_name"], documents.get(row["object_id"], ""), row["code"]
        )
        for row in rows
        if row["qualified_name"]
    }
