"""Retrieval before one request: the five chunks of a source that are nearest to the question."""

from __future__ import annotations

from collections.abc import Sequence

from mattools_assets.systems.base import K, Retrieved, Session, System
from mattools_assets.systems.prompts import VERSION, function_prompt
from mattools_assets.systems.replies import Function
from mattools_assets.systems.sources import CODE, OBJECT_DOCS, OBJECT_DOCS_SPLIT, OFFICIAL_DOCS


def passages(chunks: Sequence[Retrieved]) -> list[str]:
    """Chunks as a model sees them: where each is from, and its text."""
    return [f"{chunk.title}\n{chunk.text}" for chunk in chunks]


def rag(name: str, source: str) -> System:
    """A system that retrieves from `source`."""

    async def answer(session: Session) -> Function:
        chunks = await session.retrieve(source, session.question.text)
        return await session.ask_function(
            function_prompt(session.question.text, passages(chunks), session.room), "answer"
        )

    return System(name, answer, version=VERSION, shortest=(K,), longest=(K,), sources=(source,))


RAG = tuple(
    rag(f"rag-{number}", source)
    for number, source in enumerate((CODE, OFFICIAL_DOCS, OBJECT_DOCS_SPLIT, OBJECT_DOCS), 1)
)
