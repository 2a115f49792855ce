"""Answers to all questions that there are, by baselines and by models."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mattools_assets import versions
from mattools_assets.entrants import QA, entrant_hash
from mattools_assets.freshness import QUESTION_SETS
from mattools_assets.qa.answering import answer_prompt
from mattools_assets.qa.baselines import BASELINES
from mattools_assets.qa.questions import Question, read_questions
from mattools_assets.qa.sampling import stratified_sample
from mattools_assets.qa.scores import QA_ANSWERS, sample_name
from resources.lake import Lake, combined_hash
from resources.llm.answer import Answer
from resources.llm.asking import answers_of
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.spending import budget_of
from resources.markdown import markdown_table
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.registry import read_environment
from resources.settings import Settings
from resources.stage import Made, Remarks

Row = dict[str, Any]
Identity = tuple[str, str, str, int, str]
"""Origin, kind, question, repeat, hash of the prompt."""

_log = logging.getLogger(__name__)


def all_questions(lake: Lake) -> list[Question]:
    """Every question in the lake, whoever wrote it. Raises LakeError."""
    return [q for table in QUESTION_SETS for key in lake.keys(table) for q in read_questions(lake.read(table, key))]


def sampled(questions: Sequence[Question], settings: Settings) -> Iterator[tuple[str, Question]]:
    """The questions to be asked with the name of their sample; each set of one origin and kind is sampled by itself."""
    sets: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        sets.setdefault((question.origin, question.kind), []).append(question)
    seed = settings.knowledge.seed
    for own in sets.values():
        # A sample as large as the set is the set.
        sizes = dict.fromkeys(None if n is None or n >= len(own) else n for n in settings.knowledge.samples)
        for size in sizes:
            chosen = own if size is None else stratified_sample(own, size, seed)
            yield from ((sample_name(size, seed), question) for question in chosen)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question asked one time, and the samples that it is in."""

    question: Question
    repeat: int
    prompt: str
    prompt_hash: str

    @property
    def identity(self) -> Identity:
        own = self.question
        return own.origin, own.kind.value, own.question_id, self.repeat, self.prompt_hash


async def given_answers(
    lake: Lake, settings: Settings, ledger: Ledger, entry: ModelEntry
) -> AsyncGenerator[tuple[str, Made], None]:
    """The entry's name and its answers; what it has answered before is kept. Raises LakeError and LedgerError."""
    plan = _plan(all_questions(lake), settings, entry)
    rows = _kept(lake, entry)
    open_ones = {one.identity: one for _, one in plan if one.identity not in rows}
    if entry.provider == "reference":
        rows |= {identity: _baseline_row(entry, one) for identity, one in open_ones.items()}
    else:
        async for one, answer in _ask(settings, ledger, entry, list(open_ones.values())):
            rows[one.identity] = _row(entry, one, answer)
    made = [{**rows[one.identity], "sample": sample} for sample, one in plan]
    yield entry.name, Made(QA_ANSWERS.rows(made), _remarks(made, len(open_ones)))


def open_requests(
    lake: Lake, settings: Settings, entry: ModelEntry, questions: Sequence[Question]
) -> tuple[list[ChatRequest], int]:
    """What the entry would be asked now, had the ledger nothing of it, and how many answers are kept.

    Raises LakeError.
    """
    kept = _kept(lake, entry)
    asked = {one.identity: one for _, one in _plan(questions, settings, entry)}
    requests = [_request(one) for identity, one in asked.items() if identity not in kept]
    return requests, len(asked) - len(requests)


def _plan(questions: Sequence[Question], settings: Settings, entry: ModelEntry) -> list[tuple[str, _Asked]]:
    return [
        (sample, one) for sample, question in sampled(questions, settings) for one in _times(question, entry.repeats)
    ]


def _request(one: _Asked) -> ChatRequest:
    purpose = f"mattools qa {one.question.kind.value}"
    return ChatRequest([{"role": "user", "content": one.prompt}], one.repeat, purpose)


def _times(question: Question, repeats: int) -> Iterator[_Asked]:
    """Repeats of one prompt follow each other, so that a provider's cache can serve them."""
    prompt = answer_prompt(question)
    prompt_hash = combined_hash(prompt)
    for repeat in range(repeats):
        yield _Asked(question, repeat, prompt, prompt_hash)


def _kept(lake: Lake, entry: ModelEntry) -> dict[Identity, Row]:
    """Earlier answers by the same entrant that need not be asked for again."""
    stored = lake.stored(QA_ANSWERS, {"model": entry.name})
    same = {"code_version": versions.ANSWERS, "entrant_hash": entrant_hash(entry, QA)}
    if stored is None or any(stored.provenance.get(name) != value for name, value in same.items()):
        return {}
    rows = lake.read(QA_ANSWERS, {"model": entry.name}).to_pylist()
    return {
        (row["origin"], row["question_kind"], row["question_id"], row["repeat"], row["prompt_hash"]): row
        for row in rows
        if Status(row["status"]).is_scored
    }


async def _ask(
    settings: Settings, ledger: Ledger, entry: ModelEntry, open_ones: Sequence[_Asked]
) -> AsyncGenerator[tuple[_Asked, Answer], None]:
    asked = {_request(one): one for one in open_ones}
    keys = read_environment(settings.models_file)
    async for answer in answers_of(entry, lambda: list(asked), ledger, keys, budget_of(settings), _log):
        yield asked[answer.request], answer


def _row(entry: ModelEntry, one: _Asked, answer: Answer) -> Row:
    return {
        **_question_columns(entry, one),
        "status": answer.status.value,
        "reply": answer.text,
        "prompt_tokens": answer.usage.prompt_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "cost_usd": answer.cost_usd,
        "latency_s": answer.latency,
        "error": answer.error,
    }


def _baseline_row(entry: ModelEntry, one: _Asked) -> Row:
    letter = BASELINES[entry.name](one.question, one.repeat)
    return {
        **_question_columns(entry, one),
        "status": Status.OK.value,
        "reply": f"<answer>{letter}</answer>",
        "prompt_tokens": None,
        "completion_tokens": None,
        "cost_usd": 0.0,
        "latency_s": None,
        "error": None,
    }


def _question_columns(entry: ModelEntry, one: _Asked) -> Row:
    return {
        "model": entry.name,
        "origin": one.question.origin,
        "question_kind": one.question.kind.value,
        "question_id": one.question.question_id,
        "repeat": one.repeat,
        "prompt_hash": one.prompt_hash,
    }


def unanswered(made: Made) -> int:
    """How many answers are missing through no fault of the model's, to be asked for again."""
    return sum(not Status(status).is_scored for status in made.rows.column("status").to_pylist())


def _remarks(rows: Sequence[Row], asked: int) -> Remarks:
    costs = [row["cost_usd"] for row in rows]
    endings = Counter(row["status"] for row in rows)
    remarks: Remarks = {
        "asked": asked,
        "unanswered": sum(not Status(row["status"]).is_scored for row in rows),
        "endings": markdown_table(("ended", "answers"), endings.most_common()),
    }
    return remarks | ({} if None in costs else {"cost (USD)": sum(costs)})
