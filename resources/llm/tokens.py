"""How many tokens a text has, for estimates, budgets and token limits.

Counted with OpenAI's o200k encoding. Other providers' differ, for English within some 20 %; what was used in the end
is what the provider says.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from resources.tokens import count_tokens

# A text beyond this is counted by a sample: the tables of a spectrum are alike from beginning to end.
SAMPLED_ABOVE = 40_000
SAMPLE = 20_000
PER_MESSAGE = 4


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """About how many tokens the messages, the system text, the tools or the texts to embed of a request's body have."""
    return PER_MESSAGE + sum(_tokens(body[part]) for part in ("system", "messages", "tools", "input") if part in body)


def _tokens(value: Any) -> int:
    if isinstance(value, str):
        return text_tokens(value)
    if isinstance(value, Mapping):
        return PER_MESSAGE + sum(_tokens(item) for item in value.values())
    if isinstance(value, list | tuple):
        return sum(_tokens(item) for item in value)
    return 1


@lru_cache(maxsize=8)
def text_tokens(text: str) -> int:
    """About how many tokens `text` has; of a long one, from its beginning, middle and end."""
    if len(text) <= SAMPLED_ABOVE:
        return count_tokens(text)
    middle = len(text) // 2
    third = SAMPLE // 3
    sample = (text[:third], text[middle : middle + third], text[-third:])
    return round(sum(map(count_tokens, sample)) * len(text) / (3 * third))
