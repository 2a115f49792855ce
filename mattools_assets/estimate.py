"""`python -m mattools_assets.estimate [MODEL …]`: what documents, questions and answers would cost. Nobody is asked.

Prompts are counted as they would be sent, and what the ledger has already is left out; of documents the prompts are
known only about, because they quote documents that are not written yet. Lengths of answers are assumed.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator

from mattools_assets import freshness
from mattools_assets.entrants import DOCS, QA, QUESTIONS, check_doc_source
from mattools_assets.qa.questions import QuestionKind
from mattools_assets.stages.answers import open_requests
from mattools_assets.stages.documents import document_requests
from mattools_assets.stages.questions import synthesis_requests
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.tool_usage.entrants import PROTOCOL as TOOLS
from mattools_assets.tool_usage.question_sets import ToolUsageError, all_tasks
from resources.lake import Lake
from resources.llm.estimate import Estimate, estimate
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.model_entry import ModelEntry
from resources.settings import Settings

ANSWER_TOKENS = {DOCS: 400, QUESTIONS: 700, QA: 10}
"""Assumed of one reply; reasoning models write more, for which `--answer-tokens` stands."""


def estimates(
    settings: Settings, entry: ModelEntry, ledger: Ledger, answer_tokens: int | None = None
) -> Iterator[tuple[str, Estimate]]:
    """What is asked of the entry under each of its protocols, and what that would cost. Raises LakeError."""
    lake = Lake(settings.lake)
    for protocol in (DOCS, QUESTIONS, QA):
        if protocol in entry.protocols and entry.provider != "reference":
            requests = _requests(lake, settings, entry, protocol)
            yield protocol, estimate(requests, entry, ledger, answer_tokens or ANSWER_TOKENS[protocol])


def _requests(lake: Lake, settings: Settings, entry: ModelEntry, protocol: str) -> list[ChatRequest]:
    if protocol == DOCS:
        return document_requests(lake, entry)
    if protocol == QUESTIONS:
        kinds = (QuestionKind.CODE, QuestionKind.DOC)
        return [request for kind in kinds for request in synthesis_requests(lake, settings, entry, kind)]
    return open_requests(lake, settings, entry)


def tool_requests(settings: Settings, entry: ModelEntry) -> list[str]:
    """A line for each system of tool usage: how many requests at the least and the most.

    What a system asks follows from what it is answered, so that no cost is estimated.
    """
    if TOOLS not in entry.protocols or entry.provider == "reference":
        return []
    questions = len(all_tasks(settings))
    return [
        f"{TOOLS}: {entry.name}: {name}: {fewest * questions * entry.repeats:,} to {most * questions * entry.repeats:,}"
        f" requests for {questions} questions, {entry.repeats} times; cost not estimated"
        for name, (fewest, most) in ((name, SYSTEMS[name].requests) for name in entry.systems or SYSTEMS)
        if name in SYSTEMS
    ]


def main() -> int:
    """Print one line a model and protocol. Exit status 1 after one line that says what is wrong."""
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

    try:
        settings = read_settings()
        registry = registry_of(settings)
        check_doc_source(settings, registry.entries)
        enabled = [entry.name for entry in registry.entries if entry.enabled]
        if Lake(settings.lake).stored(freshness.HANDWRITTEN.table, {}) is None:
            print(f"error: {settings.lake}: has no questions yet; `make run-mattools` makes them", file=sys.stderr)
            return 1
        total = 0.0
        notes = []
        with Ledger(settings.ledger_url) as ledger:
            for name in arguments.models or enabled:
                for protocol, found in estimates(settings, registry[name], ledger, arguments.answer_tokens):
                    print(f"{protocol}: {found}", flush=True)
                    total += found.usd or 0.0
                notes += tool_requests(settings, registry[name])
        print("\n".join([*notes, f"all that have a price and are estimated: ${total:.2f}; nobody was asked"]))
    except (SettingError, RegistryError, LakeError, LedgerError, ToolUsageError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
