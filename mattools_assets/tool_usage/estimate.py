"""What a model's answers to the questions that are open would cost under each system. Nobody is asked.

A request without passages is counted as it would be sent, and left out where the ledger has its reply. Which passages a
search will find is not known, and how often a system asks follows from the replies: so there is a shortest and a
longest way, with passages as long as the mean of the documents in the lake. An answer that is in the lake and good is
left out under every system, and so is what another system of the model asks in the same words.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mattools_assets.systems.base import K, System
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.systems.opening import Place, reason_off
from mattools_assets.systems.prompts import function_prompt
from mattools_assets.systems.surroundings import prompt_room
from mattools_assets.tool_usage.entrants import Evaluation
from mattools_assets.tool_usage.evaluating import Plan, planned, systems_of
from mattools_assets.tool_usage.question_sets import Tasks
from resources.lake import Lake
from resources.llm.estimate import FREE, NO_PRICE, Estimate, estimate
from resources.llm.ledger import Ledger
from resources.llm.pricing import cost_usd
from resources.llm.request import ChatRequest
from resources.llm.tokens import prompt_tokens
from resources.llm.usage import Usage
from resources.llm.wording import Span, counted, dollars, spanned
from resources.model_entry import ModelEntry
from resources.retrieval.tables import RETRIEVAL_CHUNKS
from resources.tokens import count_tokens

ASSUMED_PASSAGE = 250
"""Tokens of a passage whose documents are not in the lake yet: about 1000 characters of code."""
MARKS = 12
"""Tokens of the numbered tags around a passage."""
INTRODUCTION = 55
"""Tokens of what is said before passages."""
CARRIED = 2
"""Replies, or as much of what came of them, that a request of the longest way repeats beside the question."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Requests with their tokens and dollars; None without a price."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class ToolEstimate:
    """Of one model under one system: by the shortest way and by the longest. `answered` counts answers in the lake.

    `reading` of the requests read a document each, once before the first question; None where it is not known of how
    many documents. `begun` names the system whose request to each question is the first of this one too.
    """

    model: str
    answered: int
    shortest: Bound
    longest: Bound
    reading: int | None = 0
    begun: str = ""

    @property
    def expected(self) -> Span | None:
        """US dollars from the shortest to the longest way; None without a price or where something is not known."""
        if self.shortest.usd is None or self.longest.usd is None or self.reading is None:
            return None
        return self.shortest.usd, self.longest.usd

    def __str__(self) -> str:
        """One line."""
        low, high = self.shortest, self.longest
        noted = "; ".join(self._notes())
        if not high.requests:
            return f"{self.model}: nothing to ask{f'; {noted}' if noted else ''}"
        unknown = "" if self.reading is not None else "; not counted: reading each document once, of which none is here"
        prompt = spanned(f"{low.prompt_tokens:,}", f"{high.prompt_tokens:,}")
        reply = spanned(f"{low.completion_tokens:,}", f"{high.completion_tokens:,}")
        return (
            f"{self.model}: {spanned(f'{low.requests:,}', f'{high.requests:,}')} "
            f"request{'' if high.requests == 1 else 's'}{f' ({noted})' if noted else ''}, "
            f"about {prompt} prompt and {reply} reply tokens, {self._price}{unknown}"
        )

    @property
    def _price(self) -> str:
        low, high = self.shortest.usd, self.longest.usd
        if low is None or high is None:
            return NO_PRICE
        return spanned(dollars(low), dollars(high)) if high else FREE

    def _notes(self) -> Iterator[str]:
        if self.answered:
            yield f"{counted(self.answered, 'answer')} {'is' if self.answered == 1 else 'are'} there already"
        if self.begun:
            yield f"the first to each question is that of {self.begun}"
        if self.reading:
            yield f"{self.reading:,} of them once, to read the documents"


@dataclass(frozen=True)
class Passages:
    """How many chunks each source has in the lake and how many tokens they have on average, read once."""

    lake: Lake
    known: dict[str, tuple[int, float] | None] = field(default_factory=dict)

    def of(self, source: str) -> tuple[int, float] | None:
        """Chunks and mean tokens as a model is shown them; None where there is none. Raises LakeError."""
        if source not in self.known:
            self.known[source] = self._measured(source)
        return self.known[source]

    def notes(self) -> list[str]:
        """A line for each source that was wanted and has no chunks."""
        return [
            f"{source}: not in the lake yet; {ASSUMED_PASSAGE} tokens a passage assumed"
            for source, found in self.known.items()
            if found is None
        ]

    def _measured(self, source: str) -> tuple[int, float] | None:
        key = {"source": source}
        if self.lake.stored(RETRIEVAL_CHUNKS, key) is None:
            return None
        rows = self.lake.read(RETRIEVAL_CHUNKS, key, ["title", "text"]).to_pylist()
        lengths = [count_tokens(f"{row['title']}\n{row['text']}") for row in rows]
        return (len(lengths), sum(lengths) / len(lengths)) if lengths else None


def tool_estimates(
    place: Place, entry: ModelEntry, tasks: Tasks, ledger: Ledger, passages: Passages, reply_tokens: int
) -> Iterator[tuple[str, Estimate | ToolEstimate | str]]:
    """By system what is open would cost, or in a line why the system cannot answer here.

    Raises ToolUsageError, EmbedderError, LakeError and LedgerError.
    """
    begun = dict[tuple[str, ...], str]()
    for name in systems_of(entry):
        system = SYSTEMS[name]
        if off := reason_off(system, place):
            yield name, off
            continue
        plan = planned(Evaluation(entry.name, name), place, tasks)
        if system.sources:
            first = begun.setdefault(system.sources, name) if system.longest[0] == K else name
            begins = "" if first == name else first
            yield name, _retrieving(place, entry, system, plan, passages, reply_tokens, begins)
        else:
            requests = [ChatRequest(_question(entry, task.question.text), repeat) for task, repeat in plan.open]
            found = estimate(requests, entry, ledger, reply_tokens, len(plan.wanted) - len(plan.open))
            yield name, replace(found, usd_batch=None)  # each is asked by itself


def _question(entry: ModelEntry, text: str) -> list[dict[str, str]]:
    return function_prompt(text, (), prompt_room(entry))


def _retrieving(
    place: Place,
    entry: ModelEntry,
    system: System,
    plan: Plan,
    passages: Passages,
    reply_tokens: int,
    begun: str,
) -> ToolEstimate:
    # With other documents it is another entrant, whose answers are all open.
    anew = any(asset == RETRIEVAL_CHUNKS.name for asset, _ in place.stale(system.sources))
    asked = plan.wanted if anew else plan.open
    answered = len(plan.wanted) - len(asked)
    (source,) = system.sources
    chunks, length = passages.of(source) or (None, ASSUMED_PASSAGE)
    reply = min(reply_tokens, entry.parameters.max_output_tokens)
    # Whoever has answered has read the documents.
    reading = chunks if system.reading and asked and not answered else 0
    read = [system.reading + length] * (reading or 0)
    questions = [prompt_tokens({"messages": _question(entry, task.question.text)}) for task, _ in asked]

    def bound(way: Sequence[int], carried: int) -> Bound:
        shown = [min(held, chunks or held) for held in way]
        added = [_around(count, length) + (carried if number else 0) for number, count in enumerate(shown)]
        asking = [question + more for question in questions for more in added[1 if begun else 0 :]]
        return _bound(entry, [*asking, *read], reply)

    return ToolEstimate(
        entry.name,
        answered,
        bound(system.shortest, 0),
        bound(system.longest, CARRIED * reply),
        reading,
        begun if asked else "",
    )


def _around(passages: int, length: float) -> float:
    """Tokens that so many passages add to a question."""
    return INTRODUCTION + passages * (length + MARKS) if passages else 0


def _bound(entry: ModelEntry, lengths: Sequence[float], reply: int) -> Bound:
    """The costs of prompts of such lengths, cut where they would not fit."""
    room = prompt_room(entry)
    prompt, completion = sum(min(room, round(length)) for length in lengths), len(lengths) * reply
    usd = cost_usd(entry, Usage(prompt, 0, 0, completion, 0), time.time()) if lengths else 0.0
    return Bound(len(lengths), prompt, completion, usd)
