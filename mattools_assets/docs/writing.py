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
ASKED_AGAIN = 1
"""How often an object is asked for again in one run after its request failed; the client's own tries come on top."""


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
    failed waits, so that no document is written from a gap. When all levels are done, what failed is asked for once
    more, then what waited for it. `progress` gets the states so far and the number of all objects after each document.
    """
    writer = _Writer(graph, identities, known, ask, budget, progress)
    while await writer.go_through():
        pass
    return writer.written


class _Writer:
    """The documents so far, and how often each object was asked for."""

    def __init__(
        self,
        graph: CodeGraph,
        identities: Mapping[str, str],
        known: Iterable[Document],
        ask: Ask,
        budget: int,
        progress: Callable[[Counter[State], int], None],
    ) -> None:
        self.graph, self.identities, self.ask, self.budget, self.progress = graph, identities, ask, budget, progress
        good = {document.identity: document for document in known if document.state in USABLE}
        self.known = {
            object_id: replace(good[identity], object_id=object_id)
            for object_id, identity in identities.items()
            if identity in good
        }
        self.texts = {object_id: document.text for object_id, document in self.known.items()}
        self.written: dict[str, Document] = {}
        self.asked: Counter[str] = Counter()
        self.counts: Counter[State] = Counter()

    async def go_through(self) -> bool:
        """One way up through the levels; True when anything was asked for."""
        before = self.asked.total()
        for level in self.graph.levels():
            chosen = [item for item in level if self._is_due(item)]
            prompts = [document_prompt(item, self.graph, self.texts, self.budget) for item in chosen]
            async with asyncio.TaskGroup() as group:
                for item, prompt in zip(chosen, prompts, strict=True):
                    group.create_task(self._write(item, prompt))
            # Only now, so that the prompts of one level do not depend on which reply came first.
            self.texts |= {item.object_id: self.written[item.object_id].text for item in level if self._is_done(item)}
        return self.asked.total() > before

    def _is_done(self, item: Documented) -> bool:
        document = self.written.get(item.object_id)
        return document is not None and document.state in USABLE

    def _is_due(self, item: Documented) -> bool:
        """True when the object is to be asked for now; settles those that are known or have to wait."""
        object_id = item.object_id
        if object_id not in self.written and object_id in self.known:
            self._keep(self.known[object_id])
        if self._is_done(item) or self.asked[object_id] > ASKED_AGAIN:
            return False
        callees = self.graph.waits_for.get(object_id, ())
        if all(self.written[callee].state in USABLE for callee in callees):
            return True
        self._keep(Document(object_id, self.identities[object_id], State.WAITING))
        return False

    async def _write(self, item: Documented, prompt: str) -> None:
        self.asked[item.object_id] += 1
        reply = await self.ask(item, prompt)
        self._keep(_document(item, self.identities[item.object_id], reply, count_tokens(prompt)))

    def _keep(self, document: Document) -> None:
        former = self.written.get(document.object_id)
        if former is not None:
            self.counts[former.state] -= 1
        self.written[document.object_id] = document
        self.counts[document.state] += 1
        if former != document:
            self.progress(self.counts, len(self.graph.objects))


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
