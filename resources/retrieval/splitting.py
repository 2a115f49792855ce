"""Ways to split a document: Python code, running text, text by meaning, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import semchunk
from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

from resources.retrieval.documents import Chunk, Document, Piece, chunks_of
from resources.tokens import count_tokens

SIZE, OVERLAP = 1000, 50
"""Characters, as published for code and HTML documentation."""
TOKENS = 256
"""o200k tokens of a chunk that is split by meaning; ours, the publication names no size."""

_SIZES: dict[str, Any] = {"chunk_size": SIZE, "chunk_overlap": OVERLAP, "add_start_index": True}

Split = Callable[[Document], list[Chunk]]


def split_code(document: Document) -> list[Chunk]:
    """Python source in chunks of at most 1000 characters, 50 overlapping, at definitions before lines before words."""
    return _split(document, RecursiveCharacterTextSplitter.from_language(Language.PYTHON, **_SIZES))


def split_text(document: Document) -> list[Chunk]:
    """Running text in chunks of at most 1000 characters, 50 overlapping, at paragraphs before lines before words."""
    return _split(document, RecursiveCharacterTextSplitter(**_SIZES))


def split_by_meaning(document: Document) -> list[Chunk]:
    """Chunks of at most 256 tokens that end where the text's own structure does (`semchunk`), without overlap."""
    pieces = semchunk.chunk(document.text, TOKENS, count_tokens)
    return chunks_of(document, [Piece(str(piece)) for piece in pieces])


def keep_whole(document: Document) -> list[Chunk]:
    """The document as one chunk."""
    return chunks_of(document, [Piece(document.text)])


def split_all(documents: Iterable[Document], split: Split) -> list[Chunk]:
    """The chunks of all documents, in order."""
    return [chunk for document in documents for chunk in split(document)]


def _split(document: Document, splitter: RecursiveCharacterTextSplitter) -> list[Chunk]:
    pieces = []
    for part in splitter.create_documents([document.text]):
        start = part.metadata["start_index"]
        pieces.append(Piece(part.page_content, *_lines(document, start, start + len(part.page_content))))
    return chunks_of(document, pieces)


def _lines(document: Document, start: int, end: int) -> tuple[int, int]:
    if not document.first_line or start < 0:
        return 0, 0
    first = document.first_line + document.text.count("\n", 0, start)
    return first, first + document.text.count("\n", start, end)
