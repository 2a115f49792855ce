"""Documents and the chunks that they are split into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from resources.lake import combined_hash


@dataclass(frozen=True, slots=True)
class Document:
    """A text to be found: `title` says where it is from, in words that stand before each of its chunks.

    `first_line` is the line of its file that the text begins with; 0 where lines mean nothing.
    """

    id: str
    title: str
    text: str
    first_line: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document's text, with the lines it covers (0 where lines mean nothing)."""

    text: str
    first_line: int = 0
    last_line: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece as it is stored: `id` is its identity within a source, `text_hash` that of its text alone."""

    id: str
    document_id: str
    title: str
    number: int
    first_line: int
    last_line: int
    text: str
    text_hash: str


def text_hash(text: str) -> str:
    """Identity of a text."""
    return combined_hash(text)


def chunks_of(document: Document, pieces: Iterable[Piece]) -> list[Chunk]:
    """The chunks of a document's pieces, blank ones left out.

    An id depends on the document, the text and, where a document holds the same text twice, on which of them it is; so
    a change elsewhere in the document leaves it as it was.
    """
    seen: dict[str, int] = {}
    chunks: list[Chunk] = []
    for piece in pieces:
        if not piece.text.strip():
            continue
        digest = text_hash(piece.text)
        time = seen[digest] = seen.get(digest, -1) + 1
        chunks.append(
            Chunk(
                combined_hash(document.id, digest, str(time)),
                document.id,
                document.title,
                len(chunks),
                piece.first_line,
                piece.last_line,
                piece.text,
                digest,
            )
        )
    return chunks
