"""Who writes documents and questions and who answers: entries of models.yaml by protocol, and their identities."""

from __future__ import annotations

from collections.abc import Iterable

from mattools_assets.docs.prompts import PROMPT_VERSION as DOCUMENT_PROMPT
from mattools_assets.docs.tables import KEYLESS_SOURCES
from mattools_assets.qa.answering import PROMPT_VERSION as ANSWER_PROMPT
from mattools_assets.qa.synthesis import PROMPT_VERSION as QUESTION_PROMPT
from resources.lake import combined_hash
from resources.model_entry import ModelEntry

DOCS, QUESTIONS, QA = "docs", "questions", "qa"
PROTOCOLS = (DOCS, QUESTIONS, QA)
_PROMPTS = {DOCS: DOCUMENT_PROMPT, QUESTIONS: QUESTION_PROMPT, QA: ANSWER_PROMPT}


def taking(entries: Iterable[ModelEntry], protocol: str) -> list[ModelEntry]:
    """The entries that run under `protocol`, in their order."""
    return [entry for entry in entries if protocol in entry.protocols]


def partition_names(entries: Iterable[ModelEntry], protocol: str) -> list[str]:
    """The partitions that `protocol` should have: its models, and for documents the keyless sources before them."""
    return [*(KEYLESS_SOURCES if protocol == DOCS else ()), *(entry.name for entry in taking(entries, protocol))]


def entrant_hash(entry: ModelEntry, protocol: str) -> str:
    """Identity of whom is asked, with which parameters and which prompt; another one asks anew."""
    if entry.provider == "reference":
        return combined_hash("reference", entry.name)
    asked = entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
    return combined_hash("model", _PROMPTS[protocol], asked)
