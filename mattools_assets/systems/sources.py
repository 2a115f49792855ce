"""The four collections of documents that systems retrieve from, as published: what each is made of and how it is split.

1. `code`: every file of the library's source, split at 1000 characters with 50 overlapping;
2. `official-docs`: the official HTML documentation from the folder `CONDMAT_OFFICIAL_DOCS`, split in the same way;
3. `object-docs-split`: a model's documents of classes and functions, split by meaning;
4. `object-docs`: the same documents, each whole.

Where no model has written documents, 3 and 4 are made of docstrings, and their label says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from mattools_assets.docs.graph import read_graph
from mattools_assets.docs.tables import KEYLESS_SOURCES, LLM_DOCS, read_documents
from mattools_assets.docs.writing import USABLE, docstring_documents
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES
from resources.lake import Lake, combined_hash
from resources.retrieval.documents import Document
from resources.retrieval.html_pages import PagesMissing, find_pages, read_pages
from resources.retrieval.splitting import Split, keep_whole, split_all, split_by_meaning, split_code, split_text
from resources.retrieval.tables import chunk_rows
from resources.stage import Made, Remarks

CODE, OFFICIAL_DOCS, OBJECT_DOCS_SPLIT, OBJECT_DOCS = "code", "official-docs", "object-docs-split", "object-docs"
DOCSTRINGS = "docstrings"


class SourceMissing(ValueError):
    """Documents that are not there; one line that says what to do."""


@dataclass(frozen=True)
class Means:
    """Where documents come from. `official_docs` is a folder of HTML pages."""

    lake: Lake
    official_docs: Path | None = None


@dataclass(frozen=True)
class Source:
    """One collection: where its documents come from (with their label), and how they are split."""

    name: str
    documents: Callable[[Means], tuple[str, list[Document]]]
    split: Split


def code_documents(means: Means) -> tuple[str, list[Document]]:
    """Every file of the source."""
    rows = means.lake.read(CODE_OBJECTS, {}, ["kind", "file", "code"]).to_pylist()
    files = [row for row in rows if row["kind"] == "file"]
    return "code", [Document(row["file"], row["file"], row["code"], first_line=1) for row in files]


def official_documents(means: Means) -> tuple[str, list[Document]]:
    """The pages of the configured folder."""
    missing = why_missing(means, OFFICIAL_DOCS)
    if means.official_docs is None or missing:
        raise SourceMissing(missing)
    return "official", read_pages(means.official_docs)


def object_documents(means: Means) -> tuple[str, list[Document]]:
    """A document for each class, method and function that has one: a model's, or else its docstring."""
    objects = means.lake.read(CODE_OBJECTS, {})
    writer = _writer(means.lake)
    if writer is None:
        graph = read_graph(objects, REFERENCES.schema.empty_table())
        texts = {name: item.text for name, item in docstring_documents(graph, dict.fromkeys(graph.objects, "")).items()}
        return DOCSTRINGS, list(_documents(objects, texts))
    written = read_documents(means.lake.read(LLM_DOCS, {"doc_source": writer}))
    texts = {name: item.text for name, item in written.items() if item.state in USABLE}
    return writer, list(_documents(objects, texts))


def why_missing(means: Means, name: str) -> str | None:
    """One line that says why a source cannot be made here, or None when it can."""
    if name != OFFICIAL_DOCS:
        return None
    if means.official_docs is None:
        return f"{OFFICIAL_DOCS}: left out; set CONDMAT_OFFICIAL_DOCS to a folder of pymatgen's HTML documentation"
    try:
        find_pages(means.official_docs)
    except PagesMissing as error:
        return f"{OFFICIAL_DOCS}: {error}"
    return None


def _writer(lake: Lake) -> str | None:
    """The model whose documents there are; of several the one with the most, by name where they have as many."""
    counts = {}
    for key in lake.keys(LLM_DOCS):
        if key["doc_source"] not in KEYLESS_SOURCES:
            states = lake.read(LLM_DOCS, key, ["state"]).column("state").to_pylist()
            counts[key["doc_source"]] = sum(state == "written" for state in states)
    best = min(counts, key=lambda name: (-counts[name], name), default=None)
    return best if best is not None and counts[best] else None


def _documents(objects: pa.Table, texts: dict[str, str]) -> Iterator[Document]:
    for row in objects.select(["object_id", "qualified_name", "file"]).to_pylist():
        text = texts.get(row["object_id"])
        if text:
            yield Document(row["object_id"], f"{row['qualified_name']} ({row['file']})", text)


SOURCES = {
    source.name: source
    for source in (
        Source(CODE, code_documents, split_code),
        Source(OFFICIAL_DOCS, official_documents, split_text),
        Source(OBJECT_DOCS_SPLIT, object_documents, split_by_meaning),
        Source(OBJECT_DOCS, object_documents, keep_whole),
    )
}


def make_chunks(means: Means, name: str) -> Made:
    """The rows of RETRIEVAL_CHUNKS of a source, with remarks. Raises SourceMissing, LakeError."""
    source = SOURCES[name]
    label, documents = source.documents(means)
    chunks = split_all(documents, source.split)
    remarks: Remarks = {
        "made from": label,
        "documents": len(documents),
        "chunks": len(chunks),
        "longest chunk (characters)": max((len(chunk.text) for chunk in chunks), default=0),
    }
    return Made(chunk_rows(name, label, chunks), remarks)


def documents_identity(means: Means, name: str) -> str:
    """Identity of what a source would be made from now beside the code. Raises SourceMissing."""
    if name == CODE:
        return CODE
    if name == OFFICIAL_DOCS:
        _, pages = official_documents(means)
        return combined_hash(*(part for page in pages for part in (page.id, page.title, page.text)))
    writer = _writer(means.lake)
    stored = means.lake.stored(LLM_DOCS, {"doc_source": writer}) if writer else None
    return combined_hash(writer or DOCSTRINGS, stored.content_hash if stored else "")
