"""What a model takes, found out once: from the provider's list where it says, else by one cheap question.

The question goes out with everything that is in doubt: temperature, the name of the token cap, an effort, streaming, a
tool, a JSON schema. What the provider refuses by name is left out and the question sent again; refusals cost nothing,
so that one short answer is paid for. Where a refusal names nothing, each part is tried by itself. All this goes through
the ledger and under the ceilings; what was found is noted there with its date and never asked again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from resources.llm.answer import Answer
from resources.llm.budget import Budget
from resources.llm.capabilities import Record, fitted_to, in_words, listed_record
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.listing import list_models
from resources.llm.refusals import Refusal, refusal
from resources.llm.request import ChatRequest
from resources.llm.retry import RetryPolicy
from resources.model_entry import Capabilities, ModelEntry
from resources.outcomes import Status

KIND = "capabilities"
MOST_REFUSALS = 12
PUBLISHED_TEMPERATURE = 0.7
USUAL_EFFORT = "low"
POLICY = RetryPolicy(errors=2, rejections=10)
QUESTION = 'Reply with the JSON object {"ok": true} and nothing else. Call no tool.'
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {
        "name": "wait",
        "description": "Does nothing.",
        "parameters": {"type": "object", "properties": {}},
    },
}
_OPTIONAL = ("temperature", "effort", "stream", "tools", "structured")


class ProbeFailed(Exception):
    """A model that did not answer the probe; `status` is how its questions end, the message is one line."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def fitted(
    entry: ModelEntry, ledger: Ledger, keys: Mapping[str, str], budget: Budget, log: logging.Logger
) -> ModelEntry:
    """`entry` as its model takes it; as it is unless it says `probe: true`. Raises ProbeFailed and UnfitEntry."""
    if not entry.probe:
        return entry
    key = f"{entry.endpoint} {entry.model}"[:500]
    note = ledger.recall(KIND, key)
    if note is None:
        record = await _listed(entry, keys)
        probe = _Probe(entry, record, ledger, keys, budget)
        record |= await probe.run()
        ledger.note(KIND, key, record)
        today = datetime.fromtimestamp(time.time(), UTC).date()
        log.info("%s: %s (found out on %s for $%.4f)", entry.name, in_words(record), today, probe.usd)
    else:
        record = note.value
    return fitted_to(entry, record)


async def _listed(entry: ModelEntry, keys: Mapping[str, str]) -> Record:
    try:
        found = (await list_models(entry, keys)).get(entry.model)
    except Exception:  # many servers have no list, and whatever is wrong otherwise the question will tell
        found = None
    return {} if found is None else listed_record(found)


@dataclass(frozen=True, slots=True)
class _Form:
    """What the question is sent with."""

    token_cap: str
    max_output_tokens: int
    effort: str
    optional: frozenset[str]


@dataclass
class _Probe:
    entry: ModelEntry
    record: Record
    ledger: Ledger
    keys: Mapping[str, str]
    budget: Budget
    usd: float = 0.0
    found: Record = field(default_factory=dict)

    async def run(self) -> Record:
        """What the question shows beyond the list and beyond what `models.yaml` says."""
        form, answer = await self._until_taken(self._first())
        if answer is None:
            form = await self._one_by_one(form)
        for part in ("temperature", "stream", "tools", "structured"):
            if part in self._doubtful():
                self.found[part] = part in form.optional
        self.found["token_cap"] = form.token_cap
        if "effort" in form.optional and "efforts" not in {**self.record, **self.found}:
            self.found |= {"efforts": [form.effort], "efforts_are_all": False}
        return self.found

    def _doubtful(self) -> frozenset[str]:
        stated = self.entry.capabilities.model_fields_set
        named = {"effort": "efforts"}
        return frozenset(p for p in _OPTIONAL if named.get(p, p) not in {*stated, *self.record})

    def _first(self) -> _Form:
        own = self.entry.parameters
        stated = "token_cap" in self.entry.capabilities.model_fields_set
        modern = "max_completion_tokens" if self.entry.provider == "openai" else "max_tokens"
        return _Form(
            self.entry.capabilities.token_cap if stated else modern,
            min(own.max_output_tokens, self.record.get("max_output_tokens", own.max_output_tokens)),
            own.effort or USUAL_EFFORT,
            self._doubtful(),
        )

    async def _until_taken(self, form: _Form) -> tuple[_Form, Answer | None]:
        """The form that was taken with its answer, or the last one and None when a refusal names nothing."""
        for _ in range(MOST_REFUSALS):
            answer = await self._ask(form)
            refused = _refused(answer)
            if refused is None:
                return form, answer
            changed = self._without(form, refused)
            if changed is None:
                return form, None
            form = changed
        return form, None

    def _without(self, form: _Form, refused: Refusal) -> _Form | None:
        if refused.part == "token_cap":
            if refused.most_tokens is not None and refused.most_tokens < form.max_output_tokens:
                self.found["max_output_tokens"] = refused.most_tokens
                return replace(form, max_output_tokens=refused.most_tokens)
            other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
            # Asked for under either name: that is not what is wrong.
            if self.entry.provider == "anthropic" or "token_cap" in self.found:
                return None
            self.found["token_cap"] = other[form.token_cap]
            return replace(form, token_cap=other[form.token_cap])
        if refused.part not in form.optional:
            return None
        if refused.part == "effort":
            self.found |= {"efforts": list(refused.values), "efforts_are_all": True}
            if refused.values and form.effort not in refused.values:
                return replace(form, effort=refused.values[0])
        return replace(form, optional=form.optional - {refused.part})

    async def _one_by_one(self, form: _Form) -> _Form:
        """Each part by itself, where the bare question is taken. Raises ProbeFailed."""
        bare, answer = await self._until_taken(replace(form, optional=frozenset()))
        if answer is None:
            answer = await self._ask(bare)
            raise ProbeFailed(Status.PROVIDER_ERROR, f"{self.entry.name}: {answer.error}")
        taken = [
            part
            for part in sorted(form.optional)
            if _refused(await self._ask(replace(bare, optional=frozenset({part})))) is None
        ]
        if "effort" in form.optional and "effort" not in taken:
            self.found |= {"efforts": [], "efforts_are_all": True}
        return replace(bare, optional=frozenset(taken))

    async def _ask(self, form: _Form) -> Answer:
        """One answer or refusal. Raises ProbeFailed for whatever else becomes of the question."""
        own, optional = self.entry.parameters, form.optional
        temperature = PUBLISHED_TEMPERATURE if own.temperature is None else own.temperature
        parameters = own.model_copy(
            update={
                "temperature": temperature if "temperature" in optional else None,
                "top_p": None,
                "effort": form.effort if "effort" in optional else None,
                "max_output_tokens": form.max_output_tokens,
            }
        )
        capabilities = Capabilities(token_cap=form.token_cap, structured=True, stream="stream" in optional)  # type: ignore[arg-type]
        sent = self.entry.model_copy(update={"capabilities": capabilities, "parameters": parameters})
        request = ChatRequest(
            [{"role": "user", "content": QUESTION}],
            # Streaming is no part of a request's identity, and an answer without it shows nothing about it.
            repeat=int("stream" in optional),
            purpose="probe",
            tools=(TOOL,) if "tools" in optional else (),
            schema=SCHEMA if "structured" in optional else None,
        )
        async with Client(sent, self.ledger, self.keys, self.budget, POLICY, streamed_above=0) as client:
            answer = await client.ask(request)
        if not answer.from_ledger:
            self.usd += answer.cost_usd or 0.0
        if _refused(answer) is None and not _was_taken(answer):
            raise ProbeFailed(answer.status, f"{self.entry.name}: {answer.error}")
        return answer


def _was_taken(answer: Answer) -> bool:
    """Whether the model replied, however badly."""
    return answer.status.is_scored and answer.status is not Status.CONTEXT_OVERFLOW


def _refused(answer: Answer) -> Refusal | None:
    return None if _was_taken(answer) else refusal(answer.error or "")
