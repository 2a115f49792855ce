"""What a system needs before it can answer here: whether it is there, its identity, and its library opened."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mattools_assets.source.tables import CODE_OBJECTS
from mattools_assets.systems.base import System
from mattools_assets.systems.library import Library, open_library
from mattools_assets.systems.sources import Means, documents_identity, why_missing
from resources.freshness import Provenance, Step, is_good
from resources.lake import Lake, combined_hash
from resources.llm.ledger import Ledger
from resources.llm.spending import budget_of
from resources.registry import Registry, read_environment
from resources.retrieval.choice import chosen_entry, chosen_name, opened_embedder
from resources.retrieval.search import BM25
from resources.retrieval.tables import RETRIEVAL_CHUNKS, RETRIEVAL_VECTORS
from resources.settings import Settings

CHUNKS = Step(RETRIEVAL_CHUNKS, (CODE_OBJECTS,), "1")
VECTORS = Step(RETRIEVAL_VECTORS, (RETRIEVAL_CHUNKS,), "1")


@dataclass(frozen=True)
class Place:
    """Where systems work: the lake, the settings, the registry of models."""

    lake: Lake
    settings: Settings
    registry: Registry

    @property
    def means(self) -> Means:
        """Where documents come from."""
        return Means(self.lake, self.settings.official_docs, self.settings.knowledge.doc_source)

    @property
    def embedder(self) -> str:
        """The name of the embedder in use, `bm25` for words. Raises EmbedderError."""
        return chosen_name(self.settings.embedder, self.registry, read_environment(self.settings.models_file))

    @property
    def is_asked(self) -> bool:
        """Whether the embedder is a provider's model. Raises EmbedderError."""
        environment = read_environment(self.settings.models_file)
        return chosen_entry(self.settings.embedder, self.registry, environment) is not None

    def chunks_note(self, source: str) -> Provenance | None:
        """What a file of chunks made now would note; None without code. Raises SourceMissing."""
        return CHUNKS.provenance(self.lake, {"source": source}, documents=documents_identity(self.means, source))

    def stale(self, sources: Iterable[str]) -> list[tuple[str, str]]:
        """(asset, source) of what is missing or no longer good, upstream first. Raises SourceMissing, EmbedderError."""
        found = []
        for source in sources:
            key, name = {"source": source}, self.embedder
            if not is_good(self.lake.stored(RETRIEVAL_CHUNKS, key), self.chunks_note(source)):
                found += [(RETRIEVAL_CHUNKS.name, source)] + [(RETRIEVAL_VECTORS.name, source)] * (name != BM25)
            elif name != BM25:
                whole = key | {"embedder": name}
                if not is_good(self.lake.stored(RETRIEVAL_VECTORS, whole), VECTORS.provenance(self.lake, whole)):
                    found.append((RETRIEVAL_VECTORS.name, source))
        return found


def why_off(system: System, place: Place) -> str | None:
    """One line that says why the system cannot answer here, or None when it can. Raises EmbedderError.

    A package of an extra is missing, or documents that only the user can bring. Chunks and vectors that are not made
    yet are no such reason: `Place.stale` names them.
    """
    reason = reason_off(system, place)
    return None if reason is None else f"{system.name}: {reason}"


def reason_off(system: System, place: Place) -> str | None:
    """The same without the system's name, alike for all systems that miss the same."""
    if system.package and importlib.util.find_spec(system.package) is None:
        return f"left out; {system.mend}"
    return next((line for source in system.sources if (line := why_missing(place.means, source))), None)


def system_identity(system: System, place: Place) -> str:
    """Identity of a system with its documents and its embedder: an answer of another one is stale."""
    if not system.sources:
        return combined_hash(system.name, system.version)
    stored = [place.lake.stored(RETRIEVAL_CHUNKS, {"source": source}) for source in system.sources]
    hashes = [each.content_hash if each else "" for each in stored]
    return combined_hash(system.name, system.version, place.embedder, *hashes)


@dataclass(frozen=True)
class DocumentsUsed:
    """Who wrote the documents that a system retrieves from (as the sources label themselves), and who finds them."""

    writer: str
    embedder: str


def documents_used(system: System, place: Place) -> DocumentsUsed | None:
    """What a system retrieves from as it is in the lake; None where it retrieves nothing. Raises EmbedderError."""
    keys = [{"source": source} for source in system.sources]
    there = [key for key in keys if place.lake.stored(RETRIEVAL_CHUNKS, key)]
    labels = [
        label
        for key in there
        for label in place.lake.read(RETRIEVAL_CHUNKS, key, ["documents"]).column("documents").unique().to_pylist()
    ]
    return DocumentsUsed(", ".join(dict.fromkeys(labels)), place.embedder) if labels else None


@asynccontextmanager
async def opened_library(system: System, place: Place, ledger: Ledger) -> AsyncIterator[Library]:
    """The system's documents, searchable. Raises SourceMissing, EmbedderError, LakeError, LedgerError."""
    settings = place.settings
    keys, budget = read_environment(settings.models_file), budget_of(settings)
    async with opened_embedder(settings.embedder, place.registry, keys, ledger, budget) as embedder:
        yield open_library(place.lake, system.sources, embedder)
