"""What a reply used, in one form for every provider; the provider's own numbers stay in the stored response.

OpenAI and those like it count cached tokens inside the prompt, Anthropic beside it; here `prompt_tokens` is always
everything that was read, cached or not, and `completion_tokens` everything written, reasoning included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply; None where the provider does not say or says what cannot be."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def is_known(self) -> bool:
        """True when both ends of the bill are there."""
        return self.prompt_tokens is not None and self.completion_tokens is not None


UNKNOWN = Usage()
NOTHING = Usage(0, 0, 0, 0, 0)
"""Of a request that surely was not served, such as one that met a closed door."""


def openai_usage(raw: Any) -> Usage:
    """Usage of a chat completion; also of DeepSeek's, vLLM's and Gemini's kind."""
    usage = _mapping(raw)
    prompt_details = _mapping(usage.get("prompt_tokens_details"))
    completion_details = _mapping(usage.get("completion_tokens_details"))
    prompt = _count(usage.get("prompt_tokens"))
    cached = _count(prompt_details.get("cached_tokens"))
    if cached is None:
        cached = _count(usage.get("prompt_cache_hit_tokens"))
    return _consistent(
        Usage(
            prompt,
            cached,
            _count(prompt_details.get("cache_write_tokens")),
            _count(usage.get("completion_tokens")),
            _count(completion_details.get("reasoning_tokens")),
        )
    )


def anthropic_usage(raw: Any) -> Usage:
    """Usage of a message: what was read from the cache and written to it is added to the input."""
    usage = _mapping(raw)
    fresh = _count(usage.get("input_tokens"))
    cached = _count(usage.get("cache_read_input_tokens"))
    written = _count(usage.get("cache_creation_input_tokens"))
    details = _mapping(usage.get("output_tokens_details"))
    return _consistent(
        Usage(
            None if fresh is None else fresh + (cached or 0) + (written or 0),
            cached,
            written,
            _count(usage.get("output_tokens")),
            _count(details.get("thinking_tokens")),
        )
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    """A count of tokens; a wrong type, a negative or an absurd number is no count."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
        return None
    return int(value)


def _consistent(usage: Usage) -> Usage:
    """A part that is larger than its whole is dropped."""
    in_cache = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
    cache_fits = usage.prompt_tokens is not None and in_cache <= usage.prompt_tokens
    reasoning_fits = usage.completion_tokens is not None and (usage.reasoning_tokens or 0) <= usage.completion_tokens
    return Usage(
        usage.prompt_tokens,
        usage.cached_tokens if cache_fits else None,
        usage.cache_write_tokens if cache_fits else None,
        usage.completion_tokens,
        usage.reasoning_tokens if reasoning_fits else None,
    )
