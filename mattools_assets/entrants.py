"""Who writes documents and questions and who answers: entries of models.yaml by protocol, and their identities."""

from __future__ import annotations

from collections.abc import Iterable

from mattools_assets.docs.prompts import PROMPT_VERSION as DOCUMENT_PROMPT
from mattools_assets.docs.tables import KEYLESS_SOURCES
from mattools_assets.qa.answering import PROMPT_VERSION as ANSWER_PROMPT
from mattools_assets.qa.synthesis import PROMPT_VERSION as QUESTION_PROMPT
from resources.lake import combined_hash
from resources.model_entry import ModelEntry
from resources.settings import SettingError, Settings

DOCS, QUESTIONS, QA = "docs", "questions", "qa"
PROTOCOLS = (DOCS, QUESTIONS, QA)
_PROMPTS = {DOCS: DOCUMENT_PROMPT, QUESTIONS: QUESTION_PROMPT, QA: ANSWER_PROMPT}


def taking(entries: Iterable[ModelEntry], protocol: str) -> list[ModelEntry]:
    """The entries that run under `protocol`, in their order."""
    return [entry for entry in entries if protocol in entry.protocols]


def partition_names(entries: Iterable[ModelEntry], protocol: str) -> list[str]:
    """The partitions that `protocol` should have: its models, and for documents the keyless sources before them."""
    return [*(KEYLESS_SOURCES if protocol == DOCS else ()), *(entry.name for entry in taking(entries, protocol))]


def check_doc_source(settings: Settings, entries: Iterable[ModelEntry]) -> None:
    """Raise SettingError where nobody of all `entries`, with a key or not, writes the documents to ask about."""
    name, writers = settings.knowledge.doc_source, partition_names(entries, DOCS)
    if name not in writers:
        raise SettingError(
            f"CONDMAT_DOC_SOURCE={name!r:.60}: nobody of this name writes documents; use one of {', '.join(writers)},"
            f" or give an entry of {settings.models_file.name} the protocol {DOCS}"
        )


def entrant_hash(entry: ModelEntry, protocol: str) -> str:
    """Identity of whom is asked, with which parameters and which prompt; another one asks anew."""
    if entry.provider == "reference":
        return combined_hash("reference", entry.name)
    asked = entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
    return combined_hash("model", _PROMPTS[protocol], asked)
