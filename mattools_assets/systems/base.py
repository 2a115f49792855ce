"""What every system is: how it gets from a question to a function, and what is kept of the way.

A new system is one file: an asynchronous function of a `Session`, and a `System` that names it and says what it needs.
Whoever runs systems calls `answer_question(system, question, around)`; `around` is a `Surroundings`, in earnest
`surroundings.LedgeredSurroundings`. The result always has exactly one of the statuses of `resources.outcomes`:

* `ok`: there is a function to be executed and verified;
* the model's own failures (`no_code`, `unparseable`, `truncated`, `refused`, …): the answer is there and wrong;
* `provider_error`, `budget_stopped`, `sandbox_error`: there is no answer, and no score; ask again. What the ledger
  and the store of executions have by then is neither asked nor run again.

Raises LedgerError when the ledger fails.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from mattools_assets.questions.contract import Question
from mattools_assets.systems.replies import Function, Unreadable, read_function
from resources.llm.answer import Answer
from resources.llm.request import Message
from resources.outcomes import Status
from resources.retrieval.documents import Chunk

K = 5
"""Chunks for one query, as published."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: which `step` of the system, in which round (from 1), and what came of it."""

    step: str
    round: int
    request_hash: str
    status: Status
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_s: float | None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One chunk that was found: `source` is the document collection, `rank` counts from 1 within the query."""

    source: str
    chunk_id: str
    document_id: str
    title: str
    text: str
    score: float
    rank: int
    query: str
    round: int = 1


@dataclass(frozen=True, slots=True)
class Entity:
    """A class, method or function of the library, with its document (empty where there is none) and its code."""

    object_id: str
    qualified_name: str
    document: str
    code: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What a function did in the sandbox, without any word about whether it was right.

    `none` and `missing` are the properties that came back as None or not at all; both are empty where no dictionary
    came back (`returned` is False). `shown` is the result in a few words, `error` the end of what was written to
    stderr, or what is wrong with the result.
    """

    status: Status
    returned: bool
    none: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    shown: str = ""
    error: str = ""

    @property
    def satisfies(self) -> bool:
        """The function ran and no property is None: what ends the rounds of reflection."""
        return self.status is Status.OK and self.returned and not self.none

    def told(self) -> str:
        """What a model is told of it."""
        parts = [] if self.status is Status.OK else [f"It did not run to its end: {self.status}."]
        parts += [self.shown] if self.shown else []
        parts += [f"None: {', '.join(self.none)}."] if self.none else []
        parts += [f"Not returned: {', '.join(self.missing)}."] if self.missing else []
        parts += [f"Written to stderr, or wrong:\n{self.error}"] if self.error else []
        return "\n".join(parts) or "It returned a dictionary in which no property is None."


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a system that tries its function: the function, if there was one, and what it did."""

    number: int
    function: Function | None
    trial: Trial | None
    feedback: str = ""


class Surroundings(Protocol):
    """The model, the documents and the sandbox of one question. All keep what was done: a killed run goes on."""

    @property
    def room(self) -> int:
        """The most o200k tokens that a prompt may have."""

    async def ask(self, messages: Sequence[Message], step: str, again: int = 0) -> Answer:
        """The reply to `messages`. `again` counts how often the very same was asked before. Raises LedgerError."""

    async def retrieve(self, source: str, query: str, k: int) -> Sequence[Retrieved]:
        """The `k` chunks of `source` nearest to `query`. Raises RetrievalFailed."""

    async def execute(self, function: Function, question: Question) -> Trial:
        """What the function does in a new, empty sandbox that holds the question's files and nothing else."""

    def look_up(self, name: str) -> Sequence[Entity]:
        """What the library has under the plain name `name`."""

    def chunks(self, source: str) -> Sequence[Chunk]:
        """All chunks of `source`, for systems that index them in a way of their own."""

    async def embed(self, texts: Sequence[str], step: str) -> np.ndarray:
        """Vectors of texts, one a row, by the embedder in use. Raises RetrievalFailed."""

    async def prepare(self, messages: Sequence[Message], step: str) -> Answer:
        """The reply to a request that belongs to no question and is made once for all. Raises LedgerError."""

    def folder(self, name: str) -> Path:
        """Where a system may keep an index of its own, made by this model and this embedder."""

    @property
    def at_once(self) -> int:
        """How many requests may be on their way."""

    def entities(self, object_ids: Sequence[str]) -> Sequence[Entity]:
        """The objects of these ids, those that there are."""


class RetrievalFailed(Exception):
    """A query that found no answer through the fault of a provider; `status` says how, the text why."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Ended(Exception):
    """The end of a question before there is a function. Systems may raise it; `answer_question` reads it."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(slots=True)
class Session:
    """One question under one system: asks, retrieves and executes, and keeps the record."""

    question: Question
    around: Surroundings
    most_requests: int
    asked: list[Asked] = field(default_factory=list)
    retrieved: list[Retrieved] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    round: int = 1

    @property
    def room(self) -> int:
        """The most o200k tokens that a prompt may have."""
        return self.around.room

    async def ask(self, messages: Sequence[Message], step: str, again: int = 0) -> Answer:
        """The reply, whatever the model made of it. Raises Ended where the provider or the budget failed.

        Never more requests than the system's most: one more ends the question as `step_limit`.
        """
        if len(self.asked) >= self.most_requests:
            raise Ended(Status.STEP_LIMIT, f"{self.most_requests} requests, the most of this system, were not enough")
        answer = await self.around.ask(messages, step, again)
        usage = answer.usage
        self.asked.append(
            Asked(
                step,
                self.round,
                answer.hash,
                answer.status,
                usage.prompt_tokens,
                usage.completion_tokens,
                answer.cost_usd if answer.attempts else 0.0,
                answer.latency,
            )
        )
        if not answer.status.is_scored:
            raise Ended(answer.status, answer.error or f"{step}: {answer.status}")
        return answer

    async def ask_text(self, messages: Sequence[Message], step: str, again: int = 0) -> str:
        """The text of a reply on the way to the function; empty where the model gave none."""
        answer = await self.ask(messages, step, again)
        return answer.text.strip()

    async def ask_function(self, messages: Sequence[Message], step: str, again: int = 0) -> Function:
        """The function of a reply. Raises Ended with the reply's status, or with why it cannot be read."""
        return function_of(await self.ask(messages, step, again))

    async def retrieve(self, source: str, query: str, k: int = K) -> Sequence[Retrieved]:
        """The `k` nearest chunks, recorded. Raises Ended where a provider failed."""
        try:
            found = await self.around.retrieve(source, query, k)
        except RetrievalFailed as failure:
            raise Ended(failure.status, str(failure)) from None
        self.retrieved += [replace(chunk, round=self.round) for chunk in found]
        return found

    def look_up(self, name: str) -> list[Entity]:
        """What the library has under a plain name."""
        return list(self.around.look_up(name))

    def entities(self, object_ids: Sequence[str]) -> list[Entity]:
        """The library's objects of these ids."""
        return list(self.around.entities(object_ids))

    async def execute(self, function: Function) -> Trial:
        """What the function does. Raises Ended where the sandbox failed."""
        trial = await self.around.execute(function, self.question)
        if not trial.status.is_scored:
            raise Ended(trial.status, trial.error)
        return trial


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a system answered to one question, with its whole way. `function` is there if and only if status is ok."""

    question_id: str
    system: str
    status: Status
    function: Function | None
    error: str
    asked: tuple[Asked, ...]
    retrieved: tuple[Retrieved, ...]
    rounds: tuple[Round, ...]

    @property
    def cost_usd(self) -> float | None:
        """US dollars of all requests; None when one of them has no known price."""
        costs = [each.cost_usd for each in self.asked]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


@dataclass(frozen=True, slots=True)
class System:
    """A system: its name, how it answers, and what it needs.

    `version` changes when its prompts or its way change; answers of another version are stale. `shortest` and `longest`
    are its ways with the fewest and the most requests for one question: how many passages each request holds. `sources`
    are the document collections that it asks (see `sources.py`). `reading` is how many tokens a request has beside the
    document that it reads, where every document is read once before the first question. `package` is one that it needs
    beyond the usual ones, and `mend` says how to get it.
    """

    name: str
    answer: Callable[[Session], Awaitable[Function]]
    version: str
    shortest: tuple[int, ...]
    longest: tuple[int, ...]
    sources: tuple[str, ...] = ()
    needs_sandbox: bool = False
    reading: int = 0
    package: str = ""
    mend: str = ""

    @property
    def requests(self) -> tuple[int, int]:
        """The fewest and the most for one question."""
        return len(self.shortest), len(self.longest)


async def answer_question(system: System, question: Question, around: Surroundings) -> ToolAnswer:
    """The system's answer to one question; never raises for what a model, a provider or a sandbox did."""
    session = Session(question, around, system.requests[1])
    status, function, error = Status.OK, None, ""
    try:
        function = await system.answer(session)
    except Ended as end:
        status, error = end.status, end.reason
    return ToolAnswer(
        question.id,
        system.name,
        status,
        function,
        error,
        tuple(session.asked),
        tuple(session.retrieved),
        tuple(session.rounds),
    )


def function_of(answer: Answer) -> Function:
    """The function in a reply. Raises Ended with the reply's status, or with why no function can be read."""
    if answer.status is not Status.OK:
        raise Ended(answer.status, answer.error or f"the reply ended as {answer.status}")
    try:
        return read_function(answer.text)
    except Unreadable as fault:
        raise Ended(fault.status, str(fault)) from None
