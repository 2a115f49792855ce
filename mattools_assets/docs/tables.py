"""The table of documents, from a model or from a keyless source."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from mattools_assets.docs.writing import Document, State
from resources.lake import Column, LakeTable

_TEXT, _WHOLE = pa.string(), pa.int64()
KEYLESS_SOURCES = ("docstrings", "signatures")

LLM_DOCS = LakeTable(
    "llm_docs",
    "Documents of code objects: one row for each object that the source documents.",
    ("doc_source",),
    (
        Column("doc_source", _TEXT, "name of the model that wrote it, or docstrings, or signatures"),
        Column("object_id", _TEXT, "the object, as in code_objects"),
        Column("document_hash", _TEXT, "identity of what it was written from: code, callees, prompt version"),
        Column("state", _TEXT, "written, substitute, failed or waiting"),
        Column("text", _TEXT, "the document; empty while there is none"),
        Column("status", _TEXT, "outcome of the request; empty where none was made"),
        Column("error", _TEXT, "why it failed, in a line"),
        Column("prompt_tokens", _WHOLE, "length of the prompt in o200k tokens; 0 where none was made"),
    ),
)


def documents_table(doc_source: str, documents: Iterable[Document]) -> pa.Table:
    """Rows of `LLM_DOCS`, ordered by object."""
    return LLM_DOCS.rows(
        [
            {
                "doc_source": doc_source,
                "object_id": document.object_id,
                "document_hash": document.identity,
                "state": document.state.value,
                "text": document.text,
                "status": document.status,
                "error": document.error,
                "prompt_tokens": document.prompt_tokens,
            }
            for document in sorted(documents, key=lambda document: document.object_id)
        ]
    )


def read_documents(rows: pa.Table) -> dict[str, Document]:
    """The documents of such rows, by object."""
    return {
        row["object_id"]: Document(
            row["object_id"],
            row["document_hash"],
            State(row["state"]),
            row["text"],
            row["status"],
            row["error"],
            row["prompt_tokens"],
        )
        for row in rows.to_pylist()
    }
