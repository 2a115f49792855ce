"""What a reply costs, from the dated prices of its model's entry in `models.yaml`."""

from __future__ import annotations

from datetime import UTC, datetime

from resources.llm.usage import NOTHING, Usage
from resources.model_entry import ModelEntry, PriceList

PER_MILLION = 1e-6


def cost_usd(entry: ModelEntry, usage: Usage, when: float, *, batch: bool = False) -> float | None:
    """US dollars for `usage` at the prices of `when` (seconds since 1970, UTC).

    None when the price or the usage is not known. Without a price of its own, reading from the cache costs what
    reading anew does, and so does writing to it.
    """
    if entry.costs_nothing or usage == NOTHING:
        return 0.0
    prices = price_at(entry, when)
    if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    fresh = usage.prompt_tokens - cached - written
    dollars = PER_MILLION * (
        fresh * prices.input
        + cached * _or(prices.cached_input, prices.input)
        + written * _or(prices.cache_write, prices.input)
        + usage.completion_tokens * _or(prices.output, 0.0)
    )
    return dollars * prices.batch_factor if batch else dollars


def most_usd(entry: ModelEntry, prompt_tokens: int, max_output_tokens: int, when: float) -> float | None:
    """The most that a request can cost: nothing read from the cache, and every token written that it may write."""
    if entry.costs_nothing:
        return 0.0
    prices = price_at(entry, when)
    if prices is None:
        return None
    dearest_input = max(prices.input, _or(prices.cache_write, prices.input))
    return PER_MILLION * (prompt_tokens * dearest_input + max_output_tokens * _or(prices.output, 0.0))


def price_at(entry: ModelEntry, when: float) -> PriceList | None:
    """The price list in force at `when` (seconds since 1970, UTC)."""
    return entry.price_on(datetime.fromtimestamp(when, UTC).date())


def _or(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price
