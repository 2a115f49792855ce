"""What of the knowledge side is missing or no longer good.

The lake decides, not Dagster's event log: each file says what it was made from (see `freshness`). The notes here are
what a file has beyond its inputs; who writes a file notes the same, with what is still open in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from mattools_assets import freshness
from mattools_assets.docs.tables import KEYLESS_SOURCES
from mattools_assets.entrants import DOCS, QA, QUESTIONS, entrant_hash, taking
from mattools_assets.freshness import Step
from mattools_assets.qa.handwritten import handwritten_questions
from mattools_assets.qa.passages import PYMATGEN_DOC
from mattools_assets.qa.published import official_files
from mattools_assets.qa.questions import QuestionKind
from mattools_assets.source.specification import parse_specification
from resources.freshness import Provenance, is_good
from resources.lake import Key, Lake, combined_hash
from resources.model_entry import ModelEntry
from resources.settings import Settings

TREE = (freshness.OBJECTS, freshness.EDGES, freshness.PROBLEMS)
"""Made together from one reading of the source."""


def source_note(settings: Settings) -> Provenance:
    """What a file of `tool_source` notes. Raises SourceError."""
    return {"source": parse_specification(settings.knowledge.source).identity()}


def handwritten_note() -> Provenance:
    """What the file of this project's own questions notes."""
    return {"questions": combined_hash(*map(repr, handwritten_questions()))}


def published_note(settings: Settings) -> Provenance:
    """What the file of the published questions notes. Raises PublishedError."""
    files = official_files(settings)
    digests = [f"{kind.value} {hashlib.sha256(path.read_bytes()).hexdigest()}" for kind, path in files]
    return {"files": combined_hash(*digests)}


def documents_note(settings: Settings, entry: ModelEntry | None, unfinished: int = 0) -> Provenance:
    """What a file of documents notes; `entry` is None for a keyless source."""
    if entry is None:
        return {}
    depth = str(settings.knowledge.doc_depth)
    return {"entrant_hash": entrant_hash(entry, DOCS), "depth": depth, "unfinished": str(unfinished)}


def questions_note(
    lake: Lake, settings: Settings, entry: ModelEntry, kind: QuestionKind, unanswered: int = 0
) -> Provenance | None:
    """What a file of written questions notes; None where the documents to ask about are missing."""
    knowledge = settings.knowledge
    note = {
        "entrant_hash": entrant_hash(entry, QUESTIONS),
        "seed": str(knowledge.seed),
        "self_check": str(knowledge.self_check),
        "unanswered": str(unanswered),
    }
    if kind is QuestionKind.CODE:
        return note
    stored = lake.stored(PYMATGEN_DOC, {"doc_source": knowledge.doc_source})
    return None if stored is None else {**note, "documents": f"{knowledge.doc_source} {stored.content_hash}"}


def answers_note(settings: Settings, entry: ModelEntry, unanswered: int = 0) -> Provenance:
    """What a file of answers notes."""
    return {
        "entrant_hash": entrant_hash(entry, QA),
        "repeats": str(entry.repeats),
        "samples": ",".join("all" if size is None else str(size) for size in settings.knowledge.samples),
        "seed": str(settings.knowledge.seed),
        "unanswered": str(unanswered),
    }


def stale_base(lake: Lake, settings: Settings) -> list[str]:
    """The assets without partitions that are to be made, upstream first. Raises SourceError and PublishedError."""
    stale: list[str] = []
    if not _is_good(lake, freshness.SOURCE, {}, source_note(settings)):
        stale.append(freshness.SOURCE.table.name)
    if stale or not all(_is_good(lake, step, {}, {}) for step in TREE):
        stale += [step.table.name for step in TREE]
    if stale or not _is_good(lake, freshness.CODE_PASSAGES, {}, {}):
        stale.append(freshness.CODE_PASSAGES.table.name)
    if not _is_good(lake, freshness.HANDWRITTEN, {}, handwritten_note()):
        stale.append(freshness.HANDWRITTEN.table.name)
    if is_published_stale(lake, settings):
        stale.append(freshness.PUBLISHED.table.name)
    return stale


def is_published_stale(lake: Lake, settings: Settings) -> bool:
    """Whether there are official questions that are not in the lake yet. Raises PublishedError."""
    if not official_files(settings):
        return False
    return not _is_good(lake, freshness.PUBLISHED, {}, published_note(settings))


def stale_documents(lake: Lake, settings: Settings, entries: Iterable[ModelEntry]) -> dict[str, list[str]]:
    """Sources of documents to be made anew, by asset."""
    writers: dict[str, ModelEntry | None] = dict.fromkeys(KEYLESS_SOURCES)
    writers |= {entry.name: entry for entry in taking(entries, DOCS)}
    stale: list[str] = []
    passages: list[str] = []
    for name, entry in writers.items():
        key = {"doc_source": name}
        if not _is_good(lake, freshness.DOCUMENTS, key, documents_note(settings, entry)):
            stale.append(name)
            passages.append(name)
        elif not _is_good(lake, freshness.DOCUMENT_PASSAGES, key, {}):
            passages.append(name)
    return {freshness.DOCUMENTS.table.name: stale, freshness.DOCUMENT_PASSAGES.table.name: passages}


def stale_questions(lake: Lake, settings: Settings, entries: Iterable[ModelEntry]) -> dict[str, list[str]]:
    """Writers of questions to be asked, by asset."""
    steps = {QuestionKind.CODE: freshness.CODE_QUESTIONS, QuestionKind.DOC: freshness.DOC_QUESTIONS}
    stale: dict[str, list[str]] = {}
    for kind, step in steps.items():
        stale[step.table.name] = [
            entry.name
            for entry in taking(entries, QUESTIONS)
            if (note := questions_note(lake, settings, entry, kind)) is not None
            and not _is_good(lake, step, {"origin": entry.name}, note)
        ]
    return stale


def stale_answers(lake: Lake, settings: Settings, entries: Iterable[ModelEntry]) -> dict[str, list[str]]:
    """Models to be asked and scored, by asset."""
    asked: list[str] = []
    scored: list[str] = []
    for entry in taking(entries, QA):
        key = {"model": entry.name}
        if not _is_good(lake, freshness.ANSWERS, key, answers_note(settings, entry)):
            asked.append(entry.name)
            scored.append(entry.name)
        elif not all(_is_good(lake, step, key, {}) for step in (freshness.SCORES, freshness.ACCURACY)):
            scored.append(entry.name)
    return {
        freshness.ANSWERS.table.name: asked,
        freshness.SCORES.table.name: scored,
        freshness.ACCURACY.table.name: scored,
    }


def _is_good(lake: Lake, step: Step, key: Key, note: Provenance) -> bool:
    return is_good(lake.stored(step.table, key), step.provenance(lake, key, **note))


def together(stale: dict[str, list[str]]) -> list[tuple[tuple[str, ...], list[str]]]:
    """Neighbouring assets with the same partitions in one group, in order, empty ones left out."""
    groups: list[tuple[tuple[str, ...], list[str]]] = []
    for asset, partitions in stale.items():
        if partitions and groups and groups[-1][1] == partitions:
            groups[-1] = ((*groups[-1][0], asset), partitions)
        elif partitions:
            groups.append(((asset,), partitions))
    return groups
