"""A real model, real documents and a real sandbox around a system; what was asked and run is kept.

    with kept_runs(settings) as runs:
        async with Client(entry, ledger, keys, budget) as client:
            around = LedgeredSurroundings(client, entry, library, runs, purpose="tools rag-4 rock-salt")
            answer = await answer_question(system, question, around)

`runs` keeps what it ran (`tool_usage.runs.kept_runs`): a later step that executes the answer finds it done.
"""

from __future__ import annotations

import asyncio
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mattools_assets.questions.answering import run_answer
from mattools_assets.questions.contract import Question
from mattools_assets.systems.base import Entity, RetrievalFailed, Retrieved, Trial
from mattools_assets.systems.library import Library
from mattools_assets.systems.replies import Function
from resources.lake import combined_hash
from resources.llm.answer import Answer, Tally
from resources.llm.client import Client
from resources.llm.request import ChatRequest, Message
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.retrieval.documents import Chunk
from resources.retrieval.embedders import EmbeddingFailed, WordLlamaEmbedder
from resources.sandbox.execution import Execution, RunsScripts

AGAIN = 1000
"""What asking the very same again adds to the repeat: more than an entry can have repeats."""
USUAL_CONTEXT = 128_000
SHARE = 0.75
"""Of a context; other tokenizers make more tokens of a text than ours."""
LEAST_ROOM = 512
SHOWN = 1500
"""Characters of a result or of stderr that a model is shown."""


@dataclass(frozen=True)
class LedgeredSurroundings:
    """See `base.Surroundings`. `purpose` labels the requests in the ledger, `tally` counts them.

    `runs` may be None for systems that run nothing. Where there is no sandbox, its SandboxUnavailable is passed on.
    """

    client: Client
    entry: ModelEntry
    library: Library = field(default_factory=Library)
    runs: RunsScripts | None = None
    purpose: str = ""
    repeat: int = 0
    workspace: Path | None = None
    tally: Tally = field(default_factory=Tally)

    @property
    def room(self) -> int:
        return prompt_room(self.entry)

    async def ask(self, messages: Sequence[Message], step: str, again: int = 0) -> Answer:
        """The reply, from the ledger where it has one."""
        repeat = self.repeat + AGAIN * again
        return await self._asked(ChatRequest(messages, repeat, f"{self.purpose} {step}".strip()))

    async def retrieve(self, source: str, query: str, k: int) -> list[Retrieved]:
        try:
            return await self.library.search(source, query, k, f"{self.purpose} query".strip())
        except EmbeddingFailed as failure:
            raise RetrievalFailed(failure.status, str(failure)) from None

    def chunks(self, source: str) -> Sequence[Chunk]:
        return self.library.chunks.get(source, ())

    async def embed(self, texts: Sequence[str], step: str) -> np.ndarray:
        try:
            return await (self.library.embedder or WordLlamaEmbedder()).embed(texts, step)
        except EmbeddingFailed as failure:
            raise RetrievalFailed(failure.status, str(failure)) from None

    async def prepare(self, messages: Sequence[Message], step: str) -> Answer:
        return await self._asked(ChatRequest(messages, purpose=step))

    async def _asked(self, request: ChatRequest) -> Answer:
        answer = await self.client.ask(request)
        self.tally.add(answer)
        return answer

    def folder(self, name: str) -> Path:
        if self.workspace is None:
            raise RuntimeError("this system keeps an index of its own: give it a workspace")
        model = self.entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
        embedder = (self.library.embedder or WordLlamaEmbedder()).name
        return self.workspace / name / combined_hash(model, embedder)

    @property
    def at_once(self) -> int:
        return self.entry.max_concurrency

    def look_up(self, name: str) -> Sequence[Entity]:
        return self.library.by_name.get(name, ())

    def entities(self, object_ids: Sequence[str]) -> list[Entity]:
        return [self.library.by_id[name] for name in object_ids if name in self.library.by_id]

    async def execute(self, function: Function, question: Question) -> Trial:
        """The trial that was kept, or a new one."""
        if self.runs is None:
            raise RuntimeError("this system runs functions: give it runs of a sandbox")
        execution = await asyncio.to_thread(run_answer, self.runs, function.source, function.name, question.files)
        return trial_of(execution, question)


def prompt_room(entry: ModelEntry) -> int:
    """The most o200k tokens that a prompt to this model may have, its reply left out."""
    context = entry.context_length or USUAL_CONTEXT
    return max(LEAST_ROOM, int(SHARE * (context - min(entry.parameters.max_output_tokens, context // 2))))


def trial_of(execution: Execution, question: Question) -> Trial:
    """What of an execution a system may know: nothing that the verification knows."""
    result = execution.result if execution.submitted else None
    error = execution.stderr.strip()[-SHOWN:] or execution.detail
    if not isinstance(result, Mapping):
        if execution.status is Status.OK:
            error = f"it returned {_shown(result)} instead of a dictionary" if execution.submitted else "no result"
        return Trial(execution.status, returned=False, error=error)
    none = tuple(name for name in question.properties if name in result and result[name] is None)
    missing = tuple(name for name in question.properties if name not in result)
    shown = f"It returned {_shown(result)}."
    return Trial(execution.status, bool(result), none, missing, shown, "" if execution.status is Status.OK else error)


def _shown(value: Any) -> str:
    short = reprlib.Repr()
    short.maxdict, short.maxlist, short.maxtuple, short.maxset, short.maxlevel = 40, 6, 6, 6, 3
    short.maxstring = short.maxother = short.maxlong = 80
    return short.repr(value)[:SHOWN]
