"""Chunks and vectors in the lake, so that retrieval can be queried like everything else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

import numpy as np
import pyarrow as pa

from resources.lake import Column, LakeTable
from resources.retrieval.documents import Chunk

_TEXT, _WHOLE = pa.string(), pa.int64()

RETRIEVAL_CHUNKS = LakeTable(
    "retrieval_chunks",
    "The chunks of the documents that can be retrieved: one row a chunk.",
    ("source",),
    (
        Column("source", _TEXT, "which collection of documents"),
        Column("documents", _TEXT, "what the source was made from here, such as code, docstrings or a model's name"),
        Column("chunk_id", _TEXT, "identity within the source; the same as long as document and text are"),
        Column("document_id", _TEXT, "the document it is a part of: an object_id, a file or a page"),
        Column("title", _TEXT, "what is said of where it is from, before its text"),
        Column("number", _WHOLE, "its place in the document, from 0"),
        Column("first_line", _WHOLE, "first line of its file; 0 where lines mean nothing"),
        Column("last_line", _WHOLE, "last line of its file; 0 where lines mean nothing"),
        Column("text", _TEXT, "the chunk"),
        Column("text_hash", _TEXT, "identity of the text alone; finds its vector"),
    ),
)

RETRIEVAL_VECTORS = LakeTable(
    "retrieval_vectors",
    "Vectors of chunks' texts: one row a text.",
    ("source", "embedder"),
    (
        Column("source", _TEXT, "which collection of documents"),
        Column("embedder", _TEXT, "who made the vector"),
        Column("text_hash", _TEXT, "the text, as in retrieval_chunks"),
        Column("vector", pa.list_(pa.float32()), "the vector; all of one file have one length"),
    ),
)


def chunk_rows(source: str, documents: str, chunks: Iterable[Chunk]) -> pa.Table:
    """Rows of RETRIEVAL_CHUNKS."""
    return RETRIEVAL_CHUNKS.rows(
        [
            {"source": source, "documents": documents, "chunk_id": chunk.id}
            | {field.name: getattr(chunk, field.name) for field in fields(Chunk) if field.name != "id"}
            for chunk in chunks
        ]
    )


def read_chunks(rows: pa.Table) -> list[Chunk]:
    """The chunks of such rows."""
    return [
        Chunk(row["chunk_id"], *(row[field.name] for field in fields(Chunk)[1:]))
        for row in rows.select(
            [column for column in rows.column_names if column not in ("source", "documents")]
        ).to_pylist()
    ]


def vector_rows(source: str, embedder: str, hashes: list[str], vectors: np.ndarray) -> pa.Table:
    """Rows of RETRIEVAL_VECTORS; `vectors` has one row a hash."""
    count, length = vectors.shape if len(hashes) else (0, 0)
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * length, type=pa.int32())
    values = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1), type=pa.float32())
    columns = [
        pa.array([source] * count, type=pa.string()),
        pa.array([embedder] * count, type=pa.string()),
        pa.array(hashes, type=pa.string()),
        pa.ListArray.from_arrays(offsets, values),
    ]
    return pa.table(columns, schema=RETRIEVAL_VECTORS.schema)


def read_vectors(rows: pa.Table) -> dict[str, np.ndarray]:
    """The vectors of such rows by text hash."""
    hashes = rows.column("text_hash").to_pylist()
    column = rows.column("vector").combine_chunks()
    numbers = column.flatten().to_numpy(zero_copy_only=False)
    matrix = numbers.reshape(len(hashes), -1) if hashes else numbers.reshape(0, 0)
    return dict(zip(hashes, matrix, strict=True))
