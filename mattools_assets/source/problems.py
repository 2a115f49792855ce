"""What could not be read as it should: listed, never dropped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProblemKind(StrEnum):
    """Why a file, or a part of one, is less well known than the rest; the worst first."""

    SYNTAX = "syntax"  # not Python 3; what surrounds the error is parsed all the same
    ENCODING = "encoding"  # bytes that are not text in the declared encoding
    UNREADABLE = "unreadable"  # the file could not be opened
    LINK = "link"  # a symbolic link, not followed
    DUPLICATE_KEY = "duplicate_key"  # two objects with one file, qualified name and line
    LARGE_LITERAL = "large_literal"  # a literal whose inside is not searched for names
    IDENTICAL = "identical"  # the same bytes as another file
    EMPTY = "empty"  # no bytes


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. `line` counts from 1; 0 means the whole file."""

    file: str
    line: int
    kind: ProblemKind
    message: str
