"""Counts of texts of any length, against the tokenizer itself where it takes a text whole."""

from __future__ import annotations

import random
from itertools import pairwise

import bpe_openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources import tokens
from resources.tokens import count_tokens, decode_tokens, encode_tokens, first_tokens

WHOLE = bpe_openai.get_encoding("o200k_base")

# What the vocabulary's pattern treats apart: letters of both cases and of none, marks, digits, blanks, line breaks,
# slashes, other signs, contractions, characters that are space to Python alone.
_PARTS = ["a", "Word", "ÉTÉ", "é", "\u0301", "漢", "7", "1234.5678", "-0.25", " ", "  ", "\t", "\n", "\r\n", "\n\n  ",
          "/", "//\n", "\n/", "'s", "'LL", "(", "))", "_", ".", ",", "\u00a0", "\u3000", "\x1c", "\x85", "\U0001f9ec",
          "\ud800", "<|endoftext|>"]  # fmt: skip


def table(side: int) -> str:
    draw = random.Random(side)
    return "\n".join("\t".join(f"{draw.gauss(0, 30):.3f}" for _ in range(side)) for _ in range(side))


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(_PARTS), min_size=1, max_size=80), st.integers(5, 60))
def test_pieces_have_the_tokens_of_the_whole(parts: list[str], piece: int) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PIECE", piece)
        pieces = list(tokens._pieces(text))
        assert "".join(pieces) == text
        assert [len(part) for part in pieces] == expected_lengths(text, piece)
        if all(is_seam(left[-1], right[0]) for left, right in pairwise(pieces)):
            assert encode_tokens(text) == WHOLE.encode_ordinary(text)
            assert count_tokens(text) == len(WHOLE.encode_ordinary(text))


def expected_lengths(text: str, piece: int) -> list[int]:
    """Each piece as long as it may be, up to the last seam within reach where there is any."""
    lengths = []
    while len(text) > piece:
        seams = [place for place in range(1, piece + 1) if is_seam(text[place - 1], text[place])]
        lengths.append(max(seams, default=piece))
        text = text[lengths[-1] :]
    return [*lengths, len(text)]


def is_seam(before: str, after: str) -> bool:
    """Whether no token can reach from one character to the next, by the vocabulary's pattern."""
    if after in " \t":
        return not before.isspace()
    return before == "\n" and not after.isspace() and after != "/"


@pytest.mark.parametrize("text", [table(80), "α = 1.5,β\n" * 20_000, "word " * 100_000, " \n" * 99_999])
def test_what_the_tokenizer_takes_whole_is_counted_alike(text: str) -> None:
    assert len(text) > tokens.PIECE / 2
    assert encode_tokens(text) == WHOLE.encode_ordinary(text)


@pytest.mark.parametrize("sign", ["a", "(", "7", "漢", "\U0001f9ec", " ", "1,", "<answer>"])
def test_a_text_without_a_seam_has_a_few_tokens_too_many_for_each_cut(sign: str) -> None:
    text = sign * (180_000 // len(sign.encode()))
    whole, cuts = len(WHOLE.encode_ordinary(text)), len(text) // tokens.PIECE
    assert whole <= count_tokens(text) <= whole + 3 * cuts


@pytest.mark.parametrize("side", [200, 400])
def test_the_largest_tables_are_counted(side: int) -> None:
    """Three examples and the question's own table; each line's tokens are its own, as no line begins with space."""
    text = "\n".join([table(side)] * 4)
    assert count_tokens(text) > 200_000
    assert count_tokens(text) == sum(len(WHOLE.encode_ordinary(line)) for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("sign", ["(", "1,", "x", "\U0001f9ec", "\n", "\ud800"])
def test_no_text_is_too_long(sign: str) -> None:
    text = sign * 2_000_000
    assert 0 < count_tokens(text) <= 4 * len(text)
    assert decode_tokens(encode_tokens(text)) == text.replace("\ud800", "\ufffd")
    assert 998 <= count_tokens(first_tokens(text, 1000)) <= 1000
