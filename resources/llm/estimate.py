"""What an evaluation would cost, before anything is asked.

Prompt tokens are counted; the answer's length is not known beforehand, so the caller says how many tokens an answer
is expected to have (from the ledger, when the model answered such questions before), and the most is given too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from resources.llm.ledger import Ledger
from resources.llm.pricing import cost_usd, most_usd
from resources.llm.providers import output_cap, provider_of, wire
from resources.llm.request import ChatRequest
from resources.llm.storing import parts
from resources.llm.tokens import prompt_tokens
from resources.llm.usage import Usage
from resources.llm.wording import Span, counted, dollars
from resources.model_entry import ModelEntry

# What providers ask for at the least before they cache a prompt.
SHORTEST_CACHED_PROMPT = 1_024
FREE = "at no cost"
NO_PRICE = "at an unknown price (none in models.yaml)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of the requests that the ledger has no answer to. Dollars are None when the entry has no price.

    `usd` is without the provider's cache, `usd_cached` with repeats read from it, `usd_batch` by the batch endpoint
    (None without one), `usd_most` when every answer is as long as it may be. `too_long` prompts do not fit the context.
    """

    model: str
    requests: int
    answered: int
    prompt_tokens: int
    completion_tokens: int
    too_long: int
    usd: float | None
    usd_cached: float | None
    usd_batch: float | None
    usd_most: float | None

    def __str__(self) -> str:
        """One line."""
        if not self.requests:
            return f"{self.model}: nothing to ask{f'; {self._answered}' if self.answered else ''}"
        answered = f" ({self._answered})" if self.answered else ""
        overflow = f"; prompts that do not fit the context: {self.too_long:,}" if self.too_long else ""
        return (
            f"{self.model}: {counted(self.requests, 'request')}{answered}, about "
            f"{self.prompt_tokens:,} prompt and {self.completion_tokens:,} reply tokens, {self._money}{overflow}"
        )

    @property
    def span(self) -> Span | None:
        """US dollars with answers as they are expected, and with the longest; None without a price."""
        if not self.requests:
            return 0.0, 0.0
        return None if self.usd is None or self.usd_most is None else (self.usd, self.usd_most)

    @property
    def expected(self) -> Span | None:
        """US dollars with answers as they are expected, as a span of one amount; None without a price."""
        return None if self.span is None else (self.span[0], self.span[0])

    @property
    def _answered(self) -> str:
        return f"{counted(self.answered, 'request')} {'is' if self.answered == 1 else 'are'} answered already"

    @property
    def _money(self) -> str:
        if self.usd is None or self.usd_cached is None or self.usd_most is None:
            return NO_PRICE
        if not self.usd_most:
            return FREE
        usual, cached = dollars(self.usd), dollars(self.usd_cached)
        caching = f", with caching {cached}" if cached != usual else ""
        batch = "" if self.usd_batch is None else f", by batch {dollars(self.usd_batch)}"
        return f"{usual}{caching}{batch}, at most {dollars(self.usd_most)}"


def estimate(
    requests: Iterable[ChatRequest], entry: ModelEntry, ledger: Ledger, expected_completion: int, kept: int = 0
) -> Estimate:
    """Count and price `requests`, equal ones once, as they are asked; nothing is sent. Raises LedgerError.

    `kept` more are answered, wherever their answers are.
    """
    now = time.time()
    answered, completion, too_long = kept, 0, 0
    most = 0.0
    tokens_of: dict[str, int] = {}
    times: Counter[str] = Counter()
    for body, prompt_hash, is_answered in _opened(requests, entry, ledger):
        if is_answered:
            answered += 1
            continue
        tokens = tokens_of.setdefault(prompt_hash, prompt_tokens(body))
        times[prompt_hash] += 1
        cap = output_cap(entry, body)
        expected = min(expected_completion, cap)
        completion += expected
        too_long += entry.context_length is not None and tokens + expected > entry.context_length
        most += most_usd(entry, tokens, cap, now) or 0.0
    prompt = sum(times[each] * tokens for each, tokens in tokens_of.items())
    plain = Usage(prompt, 0, 0, completion, 0)
    cached = _with_cache(entry, plain, [(times[each], tokens) for each, tokens in tokens_of.items()])
    usd = cost_usd(entry, plain, now)
    return Estimate(
        entry.name,
        times.total(),
        answered,
        prompt,
        completion,
        too_long,
        usd,
        cost_usd(entry, cached, now),
        cost_usd(entry, plain, now, batch=True) if entry.capabilities.batch else None,
        None if usd is None else most,
    )


def _opened(
    requests: Iterable[ChatRequest], entry: ModelEntry, ledger: Ledger
) -> Iterable[tuple[Mapping[str, Any], str, bool]]:
    provider, seen = provider_of(entry), set[str]()
    for part in parts(requests, 100):
        wires = {each.hash: each for each in (wire(provider, entry, request) for request in part)}
        found = ledger.lookup([name for name in wires if name not in seen])
        yield from ((each.body, each.prompt_hash, name in found) for name, each in wires.items() if name not in seen)
        seen |= wires.keys()


def _with_cache(entry: ModelEntry, plain: Usage, prompts: Iterable[tuple[int, int]]) -> Usage:
    """`plain` when of each prompt, asked so many times and so long, the first is written and the others are read."""
    if entry.capabilities.cache == "none":
        return plain
    repeated = [(times, tokens) for times, tokens in prompts if times > 1 and tokens >= SHORTEST_CACHED_PROMPT]
    read = sum((times - 1) * tokens for times, tokens in repeated)
    written = sum(tokens for _, tokens in repeated)
    return Usage(plain.prompt_tokens, read, written, plain.completion_tokens, 0)
