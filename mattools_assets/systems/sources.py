"""The four collections of documents that systems retrieve from, as published: what each is made of and how it is split.

1. `code`: every file of the library's source, split at 1000 characters with 50 overlapping;
2. `official-docs`: the official HTML documentation from the folder `CONDMAT_OFFICIAL_DOCS`, split in the same way;
3. `object-docs-split`: documents of classes and functions, split by meaning;
4. `object-docs`: the same documents, each whole.

3 and 4 are made of the documents of the writer that the settings name, and of nobody else's: whoever answers with them
is asked again when they change, so they do not change because a model was added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from mattools_assets.docs.graph import read_graph
from mattools_assets.docs.tables import LLM_DOCS, read_documents
from mattools_assets.docs.writing import USABLE, State, docstring_documents
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES
from resources.lake import Lake, combined_hash
from resources.retrieval.documents import Document
from resources.retrieval.html_pages import PagesMissing, find_pages, read_pages
from resources.retrieval.splitting import Split, keep_whole, split_all, split_by_meaning, split_code, split_text
from resources.retrieval.tables import chunk_rows
from resources.settings import DOCSTRINGS
from resources.stage import Made, Remarks

CODE, OFFICIAL_DOCS, OBJECT_DOCS_SPLIT, OBJECT_DOCS = "code", "official-docs", "object-docs-split", "object-docs"
OF_OBJECTS = (OBJECT_DOCS_SPLIT, OBJECT_DOCS)


class SourceMissing(ValueError):
    """Documents that are not there; one line that says what to do."""


@dataclass(frozen=True)
class Means:
    """Where documents come from.

    `official_docs` is a folder of HTML pages, `writer` is whose documents of classes and functions are used.
    """

    lake: Lake
    official_docs: Path | None = None
    writer: str = DOCSTRINGS


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
    """A document for each class, method and function of which the writer has one."""
    if missing := _why_unwritten(means):
        raise SourceMissing(missing)
    objects = means.lake.read(CODE_OBJECTS, {})
    if means.writer == DOCSTRINGS:
        graph = read_graph(objects, REFERENCES.schema.empty_table())
        written = docstring_documents(graph, dict.fromkeys(graph.objects, ""))
    else:
        written = read_documents(means.lake.read(LLM_DOCS, {"doc_source": means.writer}))
    texts = {name: item.text for name, item in written.items() if item.state in USABLE}
    return means.writer, list(_documents(objects, texts))


def why_missing(means: Means, name: str) -> str | None:
    """One line that says why a source cannot be made here, or None when it can."""
    if name in OF_OBJECTS:
        return _why_unwritten(means)
    if name != OFFICIAL_DOCS:
        return None
    if means.official_docs is None:
        return f"{OFFICIAL_DOCS}: left out; set CONDMAT_OFFICIAL_DOCS to a folder of pymatgen's HTML documentation"
    try:
        find_pages(means.official_docs)
    except PagesMissing as error:
        return f"{OFFICIAL_DOCS}: {error}"
    return None


def _why_unwritten(means: Means) -> str | None:
    """Why the writer's documents cannot be used: half of them would be paid for, and then again when all are there."""
    if means.writer == DOCSTRINGS:
        return None
    key = {"doc_source": means.writer}
    stored = means.lake.stored(LLM_DOCS, key) is not None
    states = means.lake.read(LLM_DOCS, key, ["state"]).column("state").to_pylist() if stored else []
    there = sum(state in USABLE for state in states)
    if there == len(states) and State.WRITTEN in states:
        return None
    what = f"has written {there:,} of {len(states):,} documents" if there < len(states) else "has written no document"
    return (
        f"{' and '.join(OF_OBJECTS)}: left out; {means.writer}, whom CONDMAT_DOC_SOURCE names, {what};"
        f" let it write them all, or name {DOCSTRINGS}"
    )


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
    if missing := _why_unwritten(means):
        raise SourceMissing(missing)
    stored = None if means.writer == DOCSTRINGS else means.lake.stored(LLM_DOCS, {"doc_source": means.writer})
    return combined_hash(means.writer, stored.content_hash if stored else "")
