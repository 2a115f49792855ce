"""What comes back: a reply as its provider's format was read, and the answer that callers get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resources.llm.request import ChatRequest
from resources.llm.usage import UNKNOWN, Usage
from resources.outcomes import Status


@dataclass(frozen=True, slots=True)
class Words:
    """What the model said, and the provider's word for why it ended. Tool calls are as in chat completions."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish: str | None = None
    refusal: str | None = None


SILENCE = Words()


@dataclass(frozen=True, slots=True)
class Reply:
    """A provider's response body, read."""

    status: Status
    words: Words = SILENCE
    usage: Usage = UNKNOWN
    served_model: str | None = None
    fingerprint: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The final outcome of one request.

    `text` is the reply's text (of a truncated one, what there is); `latency` and `first_token` are seconds, `cost_usd`
    is None when the price or usage is not known; `attempts` counts the tries over all runs.
    """

    request: ChatRequest
    hash: str
    status: Status
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish: str | None = None
    usage: Usage = UNKNOWN
    cost_usd: float | None = None
    latency: float | None = None
    first_token: float | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    provider_request_id: str | None = None
    attempts: int = 0
    finished_at: float | None = None
    from_ledger: bool = False
    error: str | None = None


@dataclass(slots=True)
class Tally:
    """Counts of a run so far, for progress: `total` is None when it is not known beforehand."""

    total: int | None = None
    done: int = 0
    from_ledger: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    by_status: dict[Status, int] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        """Count one answer; tokens and dollars of answers from the ledger were spent before and are not counted."""
        self.done += 1
        self.by_status[answer.status] = self.by_status.get(answer.status, 0) + 1
        if answer.from_ledger:
            self.from_ledger += 1
            return
        self.prompt_tokens += answer.usage.prompt_tokens or 0
        self.cached_tokens += answer.usage.cached_tokens or 0
        self.completion_tokens += answer.usage.completion_tokens or 0
        self.cost_usd += answer.cost_usd or 0.0
        self.unpriced += answer.cost_usd is None and answer.attempts > 0

    @property
    def cache_hit_rate(self) -> float | None:
        """Part of the prompt tokens of this run that was read from the provider's cache."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    def __str__(self) -> str:
        of = "" if self.total is None else f" / {self.total}"
        errors = ", ".join(f"{n} {status}" for status, n in sorted(self.by_status.items()) if status is not Status.OK)
        unknown = f" (+ {self.unpriced} of unknown price)" if self.unpriced else ""
        return (
            f"{self.done}{of} done ({self.from_ledger} from the ledger), {self.prompt_tokens} + "
            f"{self.completion_tokens} tokens, ${self.cost_usd:.4f}{unknown}" + (f"; {errors}" if errors else "")
        )
