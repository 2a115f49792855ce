"""Documents of the tool source: from docstrings, from signatures, or written by a model; and the texts asked about."""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AsyncExitStack

import pyarrow as pa

from mattools_assets.docs.asking import asking
from mattools_assets.docs.graph import CodeGraph, Documented, read_graph
from mattools_assets.docs.identity import document_identities
from mattools_assets.docs.prompts import PROMPT_VERSION, document_prompt
from mattools_assets.docs.tables import LLM_DOCS, documents_table, read_documents
from mattools_assets.docs.writing import (
    DEFAULT_BUDGET,
    USABLE,
    Ask,
    Document,
    Reply,
    State,
    docstring_documents,
    signature_documents,
    write_documents,
)
from mattools_assets.entrants import DOCS, entrant_hash
from mattools_assets.qa.passages import code_passages, document_passages, passages_table
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES
from resources.lake import Lake
from resources.llm.answer import Tally
from resources.llm.asking import SECONDS_BETWEEN_LINES, client_for
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.spending import budget_of
from resources.markdown import fenced, markdown_table
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.registry import read_environment
from resources.settings import Settings
from resources.stage import Made, Remarks
from resources.tokens import count_tokens

KEYLESS = {"docstrings": docstring_documents, "signatures": signature_documents}
LEAST_BUDGET = 400
AHEAD = 3
"""Requests claimed in the ledger for each that the model answers at a time."""

_log = logging.getLogger(__name__)


def stored_graph(lake: Lake) -> CodeGraph:
    """The call graph in the lake. Raises LakeError."""
    return read_graph(lake.read(CODE_OBJECTS, {}), lake.read(REFERENCES, {}))


def make_keyless_documents(lake: Lake, source: str) -> Made:
    """The documents that `source`, docstrings or signatures, gives without a model. Raises LakeError."""
    graph = stored_graph(lake)
    # They are made of the object alone, so a change of its callees does not reach them.
    documents = KEYLESS[source](graph, document_identities(graph, source, depth=0))
    return Made(documents_table(source, documents.values()), _remarks(graph, documents.values()))


async def model_documents(
    lake: Lake, settings: Settings, ledger: Ledger, entry: ModelEntry
) -> AsyncGenerator[tuple[str, Made], None]:
    """The entry's name and its model's documents, kept where nothing that they were written from has changed.

    Raises LakeError and LedgerError. What the provider or the budget prevents is in the table as failed or waiting.
    """
    graph = stored_graph(lake)
    identities, known = _identities(graph, settings, entry), _known(lake, entry)
    keys, tally = read_environment(settings.models_file), Tally()
    async with AsyncExitStack() as stack:
        if why := entry.why_off(keys):
            _log.warning("%s", why)
            ask = _nobody(why)
        else:
            try:
                opened = client_for(entry, ledger, keys, budget_of(settings), _log)
                client = await stack.enter_async_context(opened)
                ask = asking(client, AHEAD * entry.max_concurrency, f"mattools docs {entry.name}", tally)
            except LedgerError:
                raise
            except Exception as error:  # no answer to the probe, or a fault of whatever kind: the others go on
                _log.warning("%s", error)
                ask = _nobody(str(error))
        written = await write_documents(
            graph, identities, known.values(), ask, budget=prompt_budget(entry), progress=_progress(entry.name, tally)
        )
    remarks: Remarks = {"asked": tally.done, "from the ledger": tally.from_ledger, "cost (USD)": tally.cost_usd}
    yield entry.name, Made(documents_table(entry.name, written.values()), remarks | _remarks(graph, written.values()))


def _nobody(why: str) -> Ask:
    async def ask(_item: Documented, _prompt: str) -> Reply:
        return Reply(Status.PROVIDER_ERROR, error=why)

    return ask


def _progress(model: str, tally: Tally) -> Callable[[Counter[State], int], None]:
    said = 0.0

    def progress(counts: Counter[State], total: int) -> None:
        nonlocal said
        if counts.total() == total or time.monotonic() - said > SECONDS_BETWEEN_LINES:
            states = ", ".join(f"{count:,} {state.value}" for state, count in sorted(counts.items()) if count)
            _log.info("%s: of %s documents %s; %s", model, f"{total:,}", states, tally)
            said = time.monotonic()

    return progress


def prompt_budget(entry: ModelEntry) -> int:
    """Most tokens of a prompt: what the model's context leaves beside the answer, and no more than is of use."""
    if entry.context_length is None:
        return DEFAULT_BUDGET
    # The model's own tokens may be shorter than the ones counted here.
    left = int(0.8 * (entry.context_length - entry.parameters.max_output_tokens))
    return max(LEAST_BUDGET, min(DEFAULT_BUDGET, left))


def document_requests(lake: Lake, settings: Settings, entry: ModelEntry) -> tuple[list[ChatRequest], int]:
    """About what the entry would be asked now, and how many of its documents are kept.

    Heads stand in for documents that are not written yet. Raises LakeError.
    """
    graph, budget = stored_graph(lake), prompt_budget(entry)
    texts = {document.identity: document.text for document in _known(lake, entry).values() if document.state in USABLE}
    identities = _identities(graph, settings, entry)
    kept = {object_id: texts[identity] for object_id, identity in identities.items() if identity in texts}
    asked = [item for object_id, item in graph.objects.items() if object_id not in kept]
    prompts = (document_prompt(item, graph, kept, budget) for item in asked)
    requests = [ChatRequest([{"role": "user", "content": prompt}], purpose="mattools docs") for prompt in prompts]
    return requests, len(kept)


def _identities(graph: CodeGraph, settings: Settings, entry: ModelEntry) -> dict[str, str]:
    version = f"{PROMPT_VERSION} {entrant_hash(entry, DOCS)}"
    return document_identities(graph, version, settings.knowledge.doc_depth)


def _known(lake: Lake, entry: ModelEntry) -> dict[str, Document]:
    key = {"doc_source": entry.name}
    return read_documents(lake.read(LLM_DOCS, key)) if lake.stored(LLM_DOCS, key) else {}


def unfinished(made: Made) -> int:
    """How many objects still have no usable document and are to be asked for again."""
    return sum(state not in {each.value for each in USABLE} for state in made.rows.column("state").to_pylist())


def make_code_passages(lake: Lake) -> Made:
    """The dataset `pymatgen_code`. Raises LakeError."""
    return _passages(passages_table(code_passages(stored_graph(lake))))


def make_document_passages(lake: Lake, source: str) -> Made:
    """The dataset `pymatgen_doc` from the documents of `source`. Raises LakeError."""
    documents = read_documents(lake.read(LLM_DOCS, {"doc_source": source}))
    return _passages(passages_table(document_passages(stored_graph(lake), documents.values()), source))


def _passages(rows: pa.Table) -> Made:
    tokens = [count_tokens(text) for text in rows.column("text").to_pylist()]
    return Made(rows, {"tokens": sum(tokens), "longest (tokens)": max(tokens, default=0)})


def _remarks(graph: CodeGraph, documents: Iterable[Document]) -> Remarks:
    found = list(documents)
    states = Counter(document.state.value for document in found)
    usable = sorted((d for d in found if d.state in USABLE), key=lambda d: d.object_id)
    remarks: Remarks = {
        "documented": len(usable),
        "coverage": len(usable) / max(len(graph.objects), 1),
        "states": markdown_table(("state", "objects"), list(states.most_common())),
    }
    if usable:
        shown = random.Random(0).choice([d for d in usable if d.object_id in graph.callers] or usable)
        remarks["a document beside its code"] = _beside(graph, shown)
    return remarks


def _beside(graph: CodeGraph, document: Document) -> str:
    code = fenced(graph.objects[document.object_id].code, "python", longest=2_500)
    return f"{fenced(document.object_id)}\n\n{code}\n\n{fenced(document.text, 'text', longest=2_500)}"
