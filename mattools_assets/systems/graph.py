"""Retrieval from a knowledge graph: the package LightRAG over the documents of whole objects.

The model under test reads every document once and names entities and relations; LightRAG keeps them as a graph with
vectors. For a question it asks the model for keywords and gathers entities, relations and chunks; then one request of
ours asks for the function. So 2 requests a question; those that build the graph belong to no question and are made
once. All of them go through the ledger.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from filelock import FileLock

from mattools_assets.systems.base import Ended, RetrievalFailed, Retrieved, Session, Surroundings, System
from mattools_assets.systems.prompts import VERSION, function_prompt
from mattools_assets.systems.replies import Function
from mattools_assets.systems.sources import OBJECT_DOCS
from resources.lake import combined_hash
from resources.llm.request import Message
from resources.outcomes import Status
from resources.tokens import decode_tokens, encode_tokens

NAME = "graph-rag"
INDEX_VERSION = "1"
ENTITIES, CHUNKS = 20, 10
"""How many entities or relations, and chunks, LightRAG looks for; ours, the publication does not say."""
READING = 1_800
"""Tokens of the prompt with which LightRAG 1.5.7 has a document read, the document left out."""
PATIENCE = 7 * 24 * 3600
"""Seconds; how long to wait for a provider is the client's business."""
REPORTED = 100

log = logging.getLogger(__name__)
_graphs: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Path, asyncio.Task[Graph]]] = WeakKeyDictionary()


async def answer(session: Session) -> Function:
    """The function, from what the graph holds about the question."""
    graph = await _opened(session.around)
    found = await graph.query(session)
    session.retrieved += found
    passages = [f"{item.title}\n{item.text}" for item in found]
    return await session.ask_function(function_prompt(session.question.text, passages, session.room), "answer")


class Graph:
    """One graph: the documents, the model that read them, whose vectors. Made and used in one event loop."""

    def __init__(self, around: Surroundings, folder: Path, dimensions: int) -> None:
        self._around = around
        self._chunks = {chunk.id: chunk for chunk in around.chunks(OBJECT_DOCS)}
        self._asking = asyncio.Lock()
        self._session: Session | None = None
        self._failure: Ended | None = None
        self._requests = 0

        # LightRAG makes deep copies of what it is given: of a function that is itself, of a method all that it knows.
        async def ask(*arguments: Any, **named: Any) -> str:
            return await self._ask(*arguments, **named)

        async def embed(texts: list[str], **_named: Any) -> np.ndarray:
            return await self._embed(texts)

        self._rag = _light_rag(folder, dimensions, around.at_once, ask, embed)

    async def build(self) -> None:
        """Reads what has not been read yet. Raises Ended where the provider or the budget failed."""
        await self._rag.initialize_storages()
        texts = [f"{chunk.title}\n{chunk.text}" for chunk in self._chunks.values()]
        if texts:
            ids = list(self._chunks)
            await self._rag.ainsert(texts, ids=ids, file_paths=ids)
            self._refuse_failures()
            states = await self._rag.aget_docs_by_ids(ids)
            unread = [name for name, state in states.items() if str(_value(state, "status")) != "processed"]
            if unread or len(states) < len(ids):
                raise Ended(Status.PROVIDER_ERROR, f"LightRAG left {len(unread)} of {len(ids)} documents unread")

    async def query(self, session: Session) -> list[Retrieved]:
        """Chunks, entities and relations for a question, the keywords asked for in its name."""
        from lightrag import QueryParam

        parameter = QueryParam(
            mode="mix",
            top_k=ENTITIES,
            chunk_top_k=CHUNKS,
            max_total_tokens=session.room,
            max_entity_tokens=session.room // 4,
            max_relation_tokens=session.room // 4,
            enable_rerank=False,
        )
        # One question at a time: what LightRAG asks meanwhile is asked for this one.
        async with self._asking:
            self._session, self._failure = session, None
            try:
                found = await self._rag.aquery_data(session.question.text, parameter)
            finally:
                self._session = None
            self._refuse_failures()
        return self._retrieved(found.get("data") or {}, session)

    def _refuse_failures(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _ask(
        self,
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Message] = (),
        **_more: Any,
    ) -> str:
        """What LightRAG asks of a model: for a question's keywords, or to read documents."""
        system: list[Message] = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages = [*system, *history_messages, {"role": "user", "content": prompt}]
        try:
            if self._session is not None:
                return await self._session.ask_text(messages, "keywords")
            reply = await self._around.prepare(messages, f"{NAME} index")
            if not reply.status.is_scored:
                raise Ended(reply.status, reply.error or f"{NAME} index: {reply.status}")
        except Ended as end:
            # LightRAG catches what is raised here, so that it is told once more afterwards.
            self._failure = end
            raise
        self._requests += 1
        if self._requests % REPORTED == 0:
            log.info("%s: %d requests to build the graph of %d documents", NAME, self._requests, len(self._chunks))
        return reply.text

    async def _embed(self, texts: list[str]) -> np.ndarray:
        try:
            return await self._around.embed(texts, f"{NAME} index")
        except RetrievalFailed as failure:
            self._failure = Ended(failure.status, str(failure))
            raise

    def _retrieved(self, data: Mapping[str, Any], session: Session) -> list[Retrieved]:
        chunks = [self._chunks.get(each["file_path"]) for each in data.get("chunks", ())]
        items = [(chunk.id, chunk.document_id, chunk.title, chunk.text) for chunk in chunks if chunk is not None]
        items += [_fact(*_entity(each)) for each in data.get("entities", ())]
        items += [_fact(*_relation(each)) for each in data.get("relationships", ())]
        query, number = session.question.text, session.round
        return [Retrieved(OBJECT_DOCS, *item, 0.0, rank, query, number) for rank, item in enumerate(items, 1)]


def _entity(each: Mapping[str, Any]) -> tuple[str, str]:
    return f"{each['entity_name']} ({each.get('entity_type', '')})", str(each.get("description", ""))


def _relation(each: Mapping[str, Any]) -> tuple[str, str]:
    return f"{each['src_id']} – {each['tgt_id']}", str(each.get("description", ""))


def _fact(title: str, text: str) -> tuple[str, str, str, str]:
    """An entity or relation as something retrieved; it belongs to no document."""
    return combined_hash(title, text), "", title, text


async def _opened(around: Surroundings) -> Graph:
    """The graph of these documents, built when it is not; once for all questions of an event loop."""
    loop = asyncio.get_running_loop()
    known = _graphs.setdefault(loop, {})
    contents = [chunk.text_hash for chunk in around.chunks(OBJECT_DOCS)]
    folder = around.folder(NAME) / combined_hash(INDEX_VERSION, *contents)
    if folder not in known:
        known[folder] = loop.create_task(_built(around, folder))
    try:
        return await asyncio.shield(known[folder])
    except RetrievalFailed as failure:
        known.pop(folder, None)
        raise Ended(failure.status, str(failure)) from None
    except Exception:
        known.pop(folder, None)
        raise


async def _built(around: Surroundings, folder: Path) -> Graph:
    folder.mkdir(parents=True, exist_ok=True)
    probe = await around.embed(["dimensions"], f"{NAME} index")
    lock = FileLock(folder / "lock")
    # Two processes must not write one graph; the other one then finds it built.
    await asyncio.to_thread(lock.acquire)
    try:
        graph = Graph(around, folder, probe.shape[1])
        await graph.build()
        return graph
    finally:
        await asyncio.to_thread(lock.release)


class _Tokenizer:
    """The tokens of this project's own counts; LightRAG's default would download a vocabulary."""

    def encode(self, content: str) -> list[int]:
        return encode_tokens(content)

    def decode(self, tokens: list[int]) -> str:
        return decode_tokens(tokens)


def _light_rag(folder: Path, dimensions: int, at_once: int, ask: Any, embed: Any) -> Any:
    # On import it would read `.env`, and settings of that name would become this process's.
    os.environ.setdefault("PYTHON_DOTENV_DISABLED", "1")
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc, Tokenizer

    logging.getLogger("lightrag").setLevel(logging.ERROR)
    return LightRAG(
        working_dir=str(folder),
        # LightRAG keeps what is open by this name alone, wherever it lies.
        workspace=combined_hash(str(folder.absolute())),
        tokenizer=Tokenizer("o200k_base", _Tokenizer()),
        embedding_func=EmbeddingFunc(embedding_dim=dimensions, func=embed, max_token_size=8000),
        llm_model_func=ask,
        llm_model_max_async=at_once,
        max_parallel_insert=at_once,
        default_llm_timeout=PATIENCE,
        default_embedding_timeout=PATIENCE,
        entity_extract_max_gleaning=0,
        # What the ledger has is never asked twice; a second store would only hide it.
        enable_llm_cache=False,
        enable_llm_cache_for_entity_extract=False,
    )


def _value(item: Any, name: str) -> Any:
    value = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
    return getattr(value, "value", value)


GRAPH = System(
    NAME,
    answer,
    version=VERSION,
    shortest=(0, CHUNKS),
    longest=(0, CHUNKS + 2 * ENTITIES),
    sources=(OBJECT_DOCS,),
    reading=READING,
    package="lightrag",
    mend="install it by `make graph-rag`",
)
