"""Replies of models that a provider serves: all prompts of all of them in one go, through the ledger.

Models are asked side by side and each category is handed on as soon as it is complete, so that an interruption costs
nothing that was answered. What a provider or the budget prevents stays unanswered and is asked again next time.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cme_assets import schemas
from cme_assets.protocols.replies import TABLE, Question, Row, kept_replies, remarks, reply_row
from resources.lake import Lake, LakeError
from resources.llm.answer import Answer
from resources.llm.asking import Lines, fault_line
from resources.llm.batched import replies_by_batch
from resources.llm.capabilities import UnfitEntry
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.probing import ProbeFailed, fitted
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.llm.side_by_side import side_by_side
from resources.llm.spending import announce, budget_of
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.registry import read_environment
from resources.settings import Settings
from resources.stage import Made
from resources.tokens import count_tokens

_ABOUT = ["problem_id", "category", "level", "resolution", "prompt_hash", "prompt_tokens"]
# Refused unread, and so not billed, whatever the provider leaves unsaid.
_UNREAD = frozenset({Status.CONTEXT_OVERFLOW, Status.BUDGET_STOPPED})

_log = logging.getLogger(__name__)


@dataclass
class Partition:
    """A model and a category: its questions, those that are to be asked, and the replies so far."""

    place: int
    entry: ModelEntry
    category: str
    identity: str
    prompts: Sequence[Row]
    replies: dict[Question, Row]
    open: set[Question] = field(init=False)
    asked: int = field(init=False)

    def __post_init__(self) -> None:
        self.open = {question for _, question in self.questions()} - self.replies.keys()
        self.asked = len(self.open)

    def questions(self) -> Iterator[tuple[Row, Question]]:
        """All questions, repeats of one prompt together, so that a provider's cache can serve them."""
        for prompt in self.prompts:
            for repeat in range(self.entry.repeats):
                yield prompt, (prompt["resolution"], prompt["problem_id"], prompt["prompt_hash"], repeat)

    def made(self) -> Made:
        """The partition's rows, in the questions' order."""
        rows = [self.replies[question] for _, question in self.questions()]
        try:
            table = TABLE.rows(rows)
        except Exception:
            rows = [_storable(row) for row in rows]
            table = TABLE.rows(rows)
        return Made(table, remarks(rows, self.asked))


def partition_of(lake: Lake, place: int, entry: ModelEntry, category: str, identity: str) -> Partition:
    """What there is to ask `entry` in `category`, at the table sizes of the entry. Raises LakeError."""
    rows = lake.read(schemas.PROMPTS, {"category": category}, _ABOUT).to_pylist()
    prompts = [row for row in rows if entry.resolutions is None or row["resolution"] in entry.resolutions]
    return Partition(place, entry, category, identity, prompts, kept_replies(lake, entry.name, category, identity))


class Questions:
    """The open questions of one model as requests; prompts are read from the lake only when their turn comes."""

    def __init__(self, lake: Lake, partitions: Sequence[Partition]) -> None:
        self._lake, self._partitions = lake, partitions
        self.asked: dict[ChatRequest, tuple[Partition, Row, Question]] = {}
        """Whose question a request is, until it is answered."""

    def __len__(self) -> int:
        return sum(partition.asked for partition in self._partitions)

    def anew(self) -> Iterator[ChatRequest]:
        """The same one by one, none held on to when the next is taken: a prompt may have a megabyte."""
        for request in self:
            yield request
            self.asked.pop(request, None)

    def __iter__(self) -> Iterator[ChatRequest]:
        for partition in self._partitions:
            if not partition.open:
                continue
            texts = _prompt_texts(self._lake, partition.category)
            for prompt, question in partition.questions():
                if question in partition.open:
                    request = _request(texts[prompt["resolution"], prompt["problem_id"]], prompt, question)
                    self.asked[request] = (partition, prompt, question)
                    yield request


def model_replies(lake: Lake, settings: Settings, partitions: Sequence[Partition]) -> Iterator[tuple[int, Made]]:
    """Each partition's rows with its place, as soon as they are complete. Raises LedgerError and LakeError."""
    for partition in partitions:
        if not partition.open:
            yield partition.place, partition.made()
    if not any(partition.open for partition in partitions):
        return
    by_model: dict[str, list[Partition]] = {}
    for partition in partitions:
        by_model.setdefault(partition.entry.name, []).append(partition)
    with Ledger(settings.ledger_url) as ledger:
        for done in side_by_side([_isolated(lake, settings, ledger, own) for own in by_model.values()]):
            yield done.place, done.made()


async def _isolated(
    lake: Lake, settings: Settings, ledger: Ledger, partitions: Sequence[Partition]
) -> AsyncGenerator[Partition, None]:
    """The same as `_asking`; a fault of whatever kind leaves this model's open questions unanswered, and no other's."""
    try:
        async with aclosing(_asking(lake, settings, ledger, partitions)) as complete:
            async for partition in complete:
                yield partition
    except (LedgerError, LakeError):
        raise
    except Exception as error:
        _log.exception("%s: not asked any further", partitions[0].entry.name)
        for partition in partitions:
            if partition.open:
                _leave_unanswered(partition, fault_line(error))
                yield partition


async def _asking(
    lake: Lake, settings: Settings, ledger: Ledger, partitions: Sequence[Partition]
) -> AsyncGenerator[Partition, None]:
    """Ask one model all its open questions; gives each partition that has become complete."""
    entry, questions = partitions[0].entry, Questions(lake, partitions)
    if not len(questions):
        return
    keys, budget = read_environment(settings.models_file), budget_of(settings)
    if entry.key_env and not keys.get(entry.key_env, "").strip():
        _log.warning("%s", entry.why_off(keys))
        for partition in partitions:
            if partition.open:
                _leave_unanswered(partition, f"{entry.key_env} is not set; put it into .env or the environment")
                yield partition
        return
    announce(entry, budget, _log)
    try:
        entry = await fitted(entry, ledger, keys, budget, _log)
    except (ProbeFailed, UnfitEntry) as error:
        _log.warning("%s", error)
        for partition in partitions:
            if partition.open:
                _leave_unanswered(partition, str(error), error.status)
                yield partition
        return
    if entry.batch:
        answers = replies_by_batch(questions.anew, entry, ledger, keys, budget)
    else:
        answers = ask_all(questions, entry, ledger, keys, budget=budget, progress=Lines(entry.name, _log))
    async with aclosing(answers):
        async for answer in answers:
            partition, prompt, question = questions.asked.pop(answer.request)
            reply = _reply(prompt, answer)
            partition.replies[question] = reply_row(prompt, entry.name, question[-1], partition.identity, reply)
            partition.open.discard(question)
            if not partition.open:
                yield partition


def _storable(row: Row) -> Row:
    """The row, or, where its table does not take it, one that says so and is asked again."""
    try:
        TABLE.rows([row])
    except Exception as error:
        why = f"the reply cannot be stored: {fault_line(error)}"
        return {**row, **_reply(row, Answer(ChatRequest([]), "", Status.PROVIDER_ERROR, error=why))}
    return row


def _leave_unanswered(partition: Partition, why: str, status: Status = Status.PROVIDER_ERROR) -> None:
    """The open questions end as the provider's failure would: without a score, and asked again next time."""
    for prompt, question in partition.questions():
        if question in partition.open:
            nobody = Answer(ChatRequest([]), "", status, error=why)
            reply = {**_reply(prompt, nobody), "request_hash": None}
            partition.replies[question] = reply_row(
                prompt, partition.entry.name, question[-1], partition.identity, reply
            )


def direct_request(text: str, problem: str, resolution: int, repeat: int) -> ChatRequest:
    """How a prompt is asked: as the only message of the user, with the entry's own parameters."""
    return ChatRequest([{"role": "user", "content": text}], repeat, f"cme direct {problem} {resolution}")


def _request(text: str, prompt: Row, question: Question) -> ChatRequest:
    return direct_request(text, prompt["problem_id"], prompt["resolution"], question[-1])


def _prompt_texts(lake: Lake, category: str) -> dict[tuple[int, str], str]:
    rows = lake.read(schemas.PROMPTS, {"category": category}, ["resolution", "problem_id", "prompt"]).to_pylist()
    return {(row["resolution"], row["problem_id"]): row["prompt"] for row in rows}


def _reply(prompt: Mapping[str, Any], answer: Answer) -> Row:
    usage, unread = answer.usage, answer.status in _UNREAD or not answer.attempts
    read, written = usage.prompt_tokens, usage.completion_tokens
    # Where a provider does not say, tokens are counted here.
    if read is None:
        read = 0 if unread else prompt["prompt_tokens"]
    if written is None:
        written = 0 if unread else count_tokens(answer.text + answer.reasoning)
    at = answer.finished_at
    return {
        "status": str(answer.status),
        "reply": answer.text,
        "error": answer.error,
        "prompt_tokens": read,
        "completion_tokens": written,
        "cost_usd": 0.0 if answer.cost_usd is None and unread else answer.cost_usd,
        "latency_s": answer.latency or 0.0,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "first_token_s": answer.first_token,
        "served_model": answer.served_model,
        "fingerprint": answer.fingerprint,
        "finish": answer.finish,
        "request_hash": answer.hash,
        "attempts": answer.attempts,
        "answered_at": None if at is None else datetime.fromtimestamp(at, UTC),
    }
