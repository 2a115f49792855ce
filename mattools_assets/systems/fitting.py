"""Fits passages into what a model's context leaves for them."""

from __future__ import annotations

from collections.abc import Sequence

from resources.tokens import count_tokens, first_tokens

CUT = "\n[cut here]"
_CUT_TOKENS = 8
SHORTEST = 16


def fitted(texts: Sequence[str], room: int) -> list[str]:
    """The texts, the longest ones cut so that all together have at most `room` o200k tokens.

    Short texts stay whole, and what they leave of their equal share goes to the longer ones. Where not even a few
    tokens are left for each, the last ones are left out.
    """
    texts = list(texts)[: max(room // SHORTEST, 0)]
    lengths = [count_tokens(text) for text in texts]
    if sum(lengths) <= room:
        return texts
    left, limits = room, [0] * len(texts)
    for done, place in enumerate(sorted(range(len(texts)), key=lengths.__getitem__)):
        limits[place] = min(lengths[place], left // (len(texts) - done))
        left -= limits[place]
    return [_cut(text, limit, length) for text, limit, length in zip(texts, limits, lengths, strict=True)]


def cut(text: str, room: int) -> str:
    """The text, or its beginning that has `room` o200k tokens with the mark that it was cut."""
    return _cut(text, room, count_tokens(text))


def _cut(text: str, limit: int, length: int) -> str:
    return text if length <= limit else first_tokens(text, max(limit - _CUT_TOKENS, 0)) + CUT
