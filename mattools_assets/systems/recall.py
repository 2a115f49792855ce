"""How much of what a question needs its search finds: recall of the needed objects among the chunks, per source.

`python -m mattools_assets.systems.recall [SOURCE…]` measures what is in the lake, with the embedder in use.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from mattools_assets.questions.own import own_questions
from mattools_assets.source.tables import CODE_OBJECTS
from mattools_assets.systems.base import K
from mattools_assets.systems.library import open_library
from mattools_assets.systems.needed import needed_objects
from mattools_assets.systems.opening import Place
from mattools_assets.systems.sources import CODE, OFFICIAL_DOCS, SOURCES, SourceMissing
from resources.found_models import registry_of
from resources.freshness import Step, is_good
from resources.lake import Column, Lake, LakeError, LakeTable, combined_hash
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.spending import budget_of
from resources.registry import RegistryError, read_environment
from resources.retrieval.choice import EmbedderError, opened_embedder
from resources.retrieval.documents import Chunk
from resources.retrieval.embedders import EmbeddingFailed
from resources.retrieval.tables import RETRIEVAL_CHUNKS
from resources.settings import SettingError, read_settings
from resources.stage import Made

_TEXT, _WHOLE = pa.string(), pa.int64()

RETRIEVAL_RECALL = LakeTable(
    "retrieval_recall",
    "What the search for each of our own questions finds of the objects that its reference solution refers to.",
    ("source", "embedder"),
    (
        Column("source", _TEXT, "which collection of documents"),
        Column("embedder", _TEXT, "whose vectors; bm25 for a search by words"),
        Column("documents", _TEXT, "what the collection was made from"),
        Column("question_id", _TEXT, "a question of our own set"),
        Column("k", _WHOLE, "chunks that were looked at"),
        Column("needed", pa.list_(_TEXT), "ids of the objects that the solution refers to"),
        Column("available", pa.list_(_TEXT), "those of them that some chunk of the source is about"),
        Column("found", pa.list_(_TEXT), "those of them that one of the k chunks is about"),
    ),
)
RECALL = Step(RETRIEVAL_RECALL, (RETRIEVAL_CHUNKS,), "1")

About = Callable[[Chunk], set[str]]
Row = Mapping[str, Any]


async def make_recall(place: Place, source: str, ledger: Ledger) -> Made:
    """The rows of RETRIEVAL_RECALL. Raises SourceMissing, EmbeddingFailed, EmbedderError, LakeError, LedgerError."""
    objects = place.lake.read(CODE_OBJECTS, {}, ["object_id", "kind", "file", "start_line", "end_line", "name", "code"])
    files = {row["file"]: row["code"] for row in objects.to_pylist() if row["kind"] == "file"}
    needed = needed_objects(files, own_questions())
    wanted = {name for names in needed.values() for name in names}
    about = about_in(source, [row for row in objects.to_pylist() if row["object_id"] in wanted])
    settings = place.settings
    keys, budget = read_environment(settings.models_file), budget_of(settings)
    async with opened_embedder(settings.embedder, place.registry, keys, ledger, budget) as embedder:
        library = open_library(place.lake, [source], embedder)
        available = set().union(*map(about, library.chunks[source]))
        rows = []
        for own in own_questions():
            hits = await library.indexes[source].search(own.question.text, K, f"retrieval recall {source}")
            found = set().union(*(about(hit.chunk) for hit in hits))
            mine = needed[own.question.id]
            rows.append(
                {
                    "source": source,
                    "embedder": place.embedder,
                    "documents": library.labels[source],
                    "question_id": own.question.id,
                    "k": K,
                    "needed": list(mine),
                    "available": [name for name in mine if name in available],
                    "found": [name for name in mine if name in found],
                }
            )
    return Made(RETRIEVAL_RECALL.rows(rows), {**summary(rows), "made from": library.labels[source]})


def recall_note() -> str:
    """Identity of the questions and their solutions."""
    return combined_hash(*(text for own in own_questions() for text in (own.question.text, own.solution)))


def stale_recall(place: Place, sources: Iterable[str]) -> list[tuple[str, str]]:
    """(asset, source) whose recall is missing or no longer good; to be asked when chunks and vectors are good."""
    keys = [{"source": source, "embedder": place.embedder} for source in sources]
    return [
        (RETRIEVAL_RECALL.name, key["source"])
        for key in keys
        if not is_good(
            place.lake.stored(RETRIEVAL_RECALL, key), RECALL.provenance(place.lake, key, questions=recall_note())
        )
    ]


def about_in(source: str, objects: Sequence[Row]) -> About:
    """Which of `objects` a chunk of a source is about.

    A document of an object is about that object. A chunk of code is about a function or method when it shares a line
    with it, and about a class when it holds the line of its `class`. A chunk of a page is about what it names followed
    by an opening parenthesis, as documentation writes signatures and calls.
    """
    if source == CODE:
        return lambda chunk: {row["object_id"] for row in objects if _is_on(row, chunk)}
    if source == OFFICIAL_DOCS:
        names = [(row["object_id"], re.compile(rf"\b{re.escape(row['name'])}\(")) for row in objects]
        return lambda chunk: {name for name, called in names if called.search(chunk.text)}
    ids = {row["object_id"] for row in objects}
    return lambda chunk: {chunk.document_id} & ids


def _is_on(row: Row, chunk: Chunk) -> bool:
    last = row["start_line"] if row["kind"] == "class" else row["end_line"]
    return row["file"] == chunk.document_id and row["start_line"] <= chunk.last_line and chunk.first_line <= last


def summary(rows: Iterable[Row]) -> dict[str, float | int]:
    """Over the questions that need anything: shares of the needed objects, and questions with something found."""
    asking = [row for row in rows if row["needed"]]
    total = sum(len(row["needed"]) for row in asking)
    return {
        "questions": len(asking),
        "needed objects": total,
        "available": round(sum(len(row["available"]) for row in asking) / total, 4) if total else 0.0,
        "recall": round(sum(len(row["found"]) for row in asking) / total, 4) if total else 0.0,
        "questions with a hit": sum(bool(row["found"]) for row in asking),
    }


def main(argv: list[str] | None = None) -> int:
    """The command; see the module."""
    parser = argparse.ArgumentParser(
        prog="python -m mattools_assets.systems.recall", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("sources", nargs="*", choices=[*SOURCES, []], help="by default all that are in the lake")
    arguments = parser.parse_args(argv)
    try:
        settings = read_settings()
        place = Place(Lake(settings.lake), settings, registry_of(settings))
        there = [key["source"] for key in place.lake.keys(RETRIEVAL_CHUNKS)]
        with Ledger(settings.ledger_url) as ledger:
            for source in arguments.sources or there:
                remarks = asyncio.run(make_recall(place, source, ledger)).remarks
                shown = ", ".join(f"{name} {value}" for name, value in remarks.items())
                print(f"{source} by {place.embedder}: {shown}")
    except (
        *(SettingError, RegistryError, EmbedderError, EmbeddingFailed, SourceMissing, LakeError, LedgerError),
    ) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
