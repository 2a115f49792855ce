"""`python -m mattools_assets.estimate [MODEL …]`: what knowledge and tool usage would cost. Nobody is asked.

What is answered already is left out. Prompts are counted as they would be sent where they are known: those for
documents quote documents that are not written yet, and what a system of tool usage asks follows from what it finds and
is answered (see `tool_usage.estimate`). Lengths of replies are assumed. Not counted are answers to questions that
models have yet to write and the writers' checks of their own, embeddings, and drafts of triplets.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mattools_assets import freshness
from mattools_assets.entrants import DOCS, QA, QUESTIONS, check_doc_source
from mattools_assets.planning import is_published_stale
from mattools_assets.qa.passages import PYMATGEN_DOC
from mattools_assets.qa.published import ORIGIN as PUBLISHED
from mattools_assets.qa.published import PublishedError
from mattools_assets.qa.questions import Question, QuestionKind
from mattools_assets.stages.answers import all_questions, open_requests
from mattools_assets.stages.documents import document_requests
from mattools_assets.stages.questions import official_questions, synthesis_requests
from mattools_assets.systems.opening import Place
from mattools_assets.tool_usage.entrants import PROTOCOL as TOOLS
from mattools_assets.tool_usage.estimate import Passages, ToolEstimate, tool_estimates
from mattools_assets.tool_usage.question_sets import ToolUsageError, all_tasks
from resources.lake import Lake
from resources.llm.estimate import Estimate, estimate
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.wording import Span, in_all
from resources.model_entry import ModelEntry
from resources.registry import Registry
from resources.retrieval.choice import EmbedderError
from resources.settings import Settings

ANSWER_TOKENS = {DOCS: 400, QUESTIONS: 700, QA: 10, TOOLS: 400}
"""Assumed of one reply; reasoning models write more, for which `--answer-tokens` stands."""


def estimates(
    settings: Settings, entry: ModelEntry, ledger: Ledger, answer_tokens: int | None = None
) -> Iterator[tuple[str, Estimate]]:
    """What knowledge asks of the entry, by protocol, and what that would cost. Raises LakeError and PublishedError."""
    lake = Lake(settings.lake)
    for protocol in (DOCS, QUESTIONS, QA):
        if protocol in entry.protocols and entry.provider != "reference":
            requests, kept = _requests(lake, settings, entry, protocol)
            found = estimate(requests, entry, ledger, answer_tokens or ANSWER_TOKENS[protocol], kept)
            # One document needs another, so that they are not asked for by batch.
            yield protocol, replace(found, usd_batch=None) if protocol == DOCS else found


def _requests(lake: Lake, settings: Settings, entry: ModelEntry, protocol: str) -> tuple[list[ChatRequest], int]:
    """What is open, and how much more the lake has answers to."""
    if protocol == DOCS:
        return document_requests(lake, settings, entry)
    if protocol == QUESTIONS:
        kinds = (QuestionKind.CODE, *((QuestionKind.DOC,) if _has_documents(lake, settings) else ()))
        return [request for kind in kinds for request in synthesis_requests(lake, settings, entry, kind)], 0
    return open_requests(lake, settings, entry, _questions(lake, settings))


def _has_documents(lake: Lake, settings: Settings) -> bool:
    return lake.stored(PYMATGEN_DOC, {"doc_source": settings.knowledge.doc_source}) is not None


def _questions(lake: Lake, settings: Settings) -> Sequence[Question]:
    """The questions in the lake, with the official ones as the next run will have them there."""
    stored = all_questions(lake)
    if not is_published_stale(lake, settings):
        return stored
    return [*(question for question in stored if question.origin != PUBLISHED), *official_questions(settings)[0]]


def print_estimates(
    settings: Settings, registry: Registry, names: Sequence[str], ledger: Ledger, answer_tokens: int | None
) -> None:
    """One line a model and protocol or system, what is assumed and left out, and the sum of what has a price."""
    place = Place(Lake(settings.lake), settings, registry)
    passages, spans = Passages(place.lake), list[Span | None]()
    # Each once, however many models they hold for.
    assumed, notes, off = dict[str, int](), dict[str, None](), dict[str, dict[str, None]]()

    def tell(protocol: str, what: str, found: Estimate | ToolEstimate) -> None:
        print(f"{what}: {found}", flush=True)
        assumed[protocol] = answer_tokens or ANSWER_TOKENS[protocol]
        spans.append(found.expected)

    for entry in map(registry.__getitem__, names):
        for protocol, found in estimates(settings, entry, ledger, answer_tokens):
            tell(protocol, protocol, found)
            if protocol == QUESTIONS and found.requests:
                notes["not counted: answers to the questions that are yet to be written"] = None
            if protocol == QUESTIONS and not _has_documents(place.lake, settings):
                source = settings.knowledge.doc_source
                notes[f"not counted: questions about the documents of {source}, which are yet to be written"] = None
        if TOOLS in entry.protocols:
            reply = answer_tokens or ANSWER_TOKENS[TOOLS]
            for system, told in tool_estimates(place, entry, all_tasks(settings), ledger, passages, reply):
                if isinstance(told, str):
                    off.setdefault(told, {})[system] = None
                else:
                    tell(TOOLS, f"{TOOLS}, {system}", told)
    if assumed:
        said = ", ".join(f"{protocol} {tokens:,}" for protocol, tokens in assumed.items())
        print(f"tokens of a reply, assumed: {said}; give --answer-tokens for models that reason")
    left_out = [f"not counted: {', '.join(systems)}: {reason}" for reason, systems in off.items()]
    print("\n".join([*passages.notes(), *notes, *left_out, in_all(spans)]))


def main() -> int:
    """Print one line a model and protocol or system. Exit status 1 after one line that says what is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m mattools_assets.estimate", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names in models.yaml; all enabled ones otherwise")
    parser.add_argument("--answer-tokens", type=int, default=None, help="tokens of a reply, reasoning included")
    arguments = parser.parse_args()
    logging.getLogger("alembic").setLevel(logging.WARNING)
    from resources.found_models import registry_of
    from resources.lake import LakeError
    from resources.llm.database import LedgerError
    from resources.registry import RegistryError
    from resources.settings import SettingError, read_settings

    one_line_errors = (
        *(SettingError, RegistryError, LakeError, LedgerError),
        *(ToolUsageError, PublishedError, EmbedderError),
    )
    try:
        settings = read_settings()
        registry = registry_of(settings)
        check_doc_source(settings, registry.entries)
        if Lake(settings.lake).stored(freshness.HANDWRITTEN.table, {}) is None:
            print(f"error: {settings.lake}: has no questions yet; `make run-mattools` makes them", file=sys.stderr)
            return 1
        names = arguments.models or [entry.name for entry in registry.entries if entry.enabled]
        with Ledger(settings.ledger_url) as ledger:
            print_estimates(settings, registry, names, ledger, arguments.answer_tokens)
    except one_line_errors as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
