"""Writing the documents of a source, callees first, by any model that can be asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from mattools_assets.docs.graph import CodeGraph, Documented
from mattools_assets.docs.prompts import document_prompt, signature_document
from resources.outcomes import Status
from resources.tokens import count_tokens

DEFAULT_BUDGET = 6000


class State(StrEnum):
    """Where an object's document stands."""

    WRITTEN = "written"  # by the model
    SUBSTITUTE = "substitute"  # the model would not or could not; signature and docstring stand in, for callers too
    FAILED = "failed"  # the request failed through no fault of the model; asked again next time
    WAITING = "waiting"  # a callee has no document yet; asked once it has


USABLE = frozenset({State.WRITTEN, State.SUBSTITUTE})


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for a prompt: the final status of the request, and the text when it is ok."""

    status: Status
    text: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document, or why there is none. `identity` is what it was written from, `status` the request's outcome."""

    object_id: str
    identity: str
    state: State
    text: str = ""
    status: str = ""
    error: str = ""
    prompt_tokens: int = 0


Ask = Callable[[Documented, str], Awaitable[Reply]]
"""Asks a model to document an object with a prompt. Limits how many it asks at once, and never raises for a failure."""


async def write_documents(
    graph: CodeGraph,
    identities: Mapping[str, str],
    known: Iterable[Document],
    ask: Ask,
    *,
    budget: int = DEFAULT_BUDGET,
    progress: Callable[[Counter[State], int], None] = lambda _counts, _total: None,
) -> dict[str, Document]:
    """A document for every object, by id.

    What `known` holds under the same identity is kept and not asked for again, also when the object has moved. All
    objects of a level are asked for at once; a level begins when the one below is done. An object with a callee that
    failed waits, so that no document is written from a gap. `progress` gets the states so far and the number of all
    objects after each document.
    """
    written: dict[str, Document] = {}
    good = {document.identity: document for document in known if document.state in USABLE}
    texts = {object_id: good[identity].text for object_id, identity in identities.items() if identity in good}
    counts: Counter[State] = Counter()

    def keep(document: Document) -> None:
        written[document.object_id] = document
        counts[document.state] += 1
        progress(counts, len(graph.objects))

    async def write(item: Documented, prompt: str) -> None:
        reply = await ask(item, prompt)
        keep(_document(item, identities[item.object_id], reply, count_tokens(prompt)))

    for level in graph.levels():
        asked: list[tuple[Documented, str]] = []
        for item in level:
            identity = identities[item.object_id]
            if identity in good:
                keep(replace(good[identity], object_id=item.object_id))
            elif any(written[callee].state not in USABLE for callee in graph.waits_for.get(item.object_id, ())):
                keep(Document(item.object_id, identity, State.WAITING))
            else:
                asked.append((item, document_prompt(item, graph, texts, budget)))
        async with asyncio.TaskGroup() as group:
            for item, prompt in asked:
                group.create_task(write(item, prompt))
        texts |= {item.object_id: written[item.object_id].text for item in level if written[item.object_id].text}
    return written


def _document(item: Documented, identity: str, reply: Reply, tokens: int) -> Document:
    text = reply.text.strip()
    if reply.status is Status.OK and text:
        return Document(item.object_id, identity, State.WRITTEN, text, reply.status, prompt_tokens=tokens)
    status = Status.EMPTY if reply.status is Status.OK else reply.status
    if status.is_scored:
        stand_in = signature_document(item)
        return Document(item.object_id, identity, State.SUBSTITUTE, stand_in, status, reply.error, tokens)
    return Document(item.object_id, identity, State.FAILED, "", status, reply.error, tokens)


def docstring_documents(graph: CodeGraph, identities: Mapping[str, str]) -> dict[str, Document]:
    """The keyless source `docstrings`: head and docstring of each object that has one."""
    return {
        item.object_id: Document(
            item.object_id,
            identities[item.object_id],
            State.WRITTEN,
            f"{item.qualified_name} ({item.file})\n{item.signature}\n\n{item.docstring}",
        )
        for item in graph.objects.values()
        if item.docstring
    }


def signature_documents(graph: CodeGraph, identities: Mapping[str, str]) -> dict[str, Document]:
    """The keyless source `signatures`: place, decorators, head and first docstring line of every object."""
    return {
        item.object_id: Document(
            item.object_id,
            identities[item.object_id],
            State.WRITTEN,
            f"{item.qualified_name} ({item.file})\n{signature_document(item)}",
        )
        for item in graph.objects.values()
    }
