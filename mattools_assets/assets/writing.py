"""What models write: documents of the tool source, and questions on its code and documents."""

from collections.abc import Sequence

import dagster as dg

from mattools_assets import freshness
from mattools_assets.assets.common import declared, telling
from mattools_assets.docs.tables import KEYLESS_SOURCES
from mattools_assets.entrants import DOCS, QUESTIONS, check_doc_source
from mattools_assets.freshness import Step
from mattools_assets.partitions import model_partitions
from mattools_assets.planning import documents_note, questions_note
from mattools_assets.qa.card import kept_and_dropped
from mattools_assets.qa.passages import PYMATGEN_DOC
from mattools_assets.qa.questions import QA_DROPPED, QuestionKind
from mattools_assets.qa.synthesis import reasons_dropped
from mattools_assets.stages.documents import (
    make_document_passages,
    make_keyless_documents,
    model_documents,
    unfinished,
)
from mattools_assets.stages.questions import written_questions
from resources.conditions import ask_once
from resources.found_models import registry_of
from resources.lake import Lake
from resources.llm.ledger import Ledger
from resources.llm.side_by_side import side_by_side
from resources.materializing import Context, InLake, InSettings, Progress, store
from resources.model_entry import ModelEntry
from resources.settings import Settings


def writing_assets(settings: Settings) -> list[dg.AssetsDefinition]:
    """Documents by who writes them, and questions by who writes them."""
    sources, writers = model_partitions(DOCS), model_partitions(QUESTIONS)
    documents = dg.SpecificPartitionsPartitionMapping([settings.knowledge.doc_source])
    asked_about = dg.AssetDep(PYMATGEN_DOC.name, partition_mapping=documents)

    @declared(freshness.DOCUMENTS, sources, ask_once())
    def llm_docs(context: Context, lake: InLake, settings: InSettings) -> None:
        step, progress = freshness.DOCUMENTS, Progress(context, len(context.partition_keys))
        with telling(context):
            for source in [key for key in context.partition_keys if key in KEYLESS_SOURCES]:
                made = make_keyless_documents(lake, source)
                store(context, lake, step, source, {"doc_source": source}, made, **documents_note(settings, None))
                progress.finished(source)
            entries = _entries(context, settings, KEYLESS_SOURCES)
            with Ledger(settings.ledger_url) as ledger:
                runs = [model_documents(lake, settings, ledger, entry) for entry in entries.values()]
                for name, made in side_by_side(runs):
                    note = documents_note(settings, entries[name], unfinished(made))
                    store(context, lake, step, name, {"doc_source": name}, made, **note)
                    progress.finished(name)

    @declared(freshness.DOCUMENT_PASSAGES, sources, dg.AutomationCondition.eager())
    def pymatgen_doc(context: Context, lake: InLake) -> None:
        with telling(context):
            for source in context.partition_keys:
                made = make_document_passages(lake, source)
                store(context, lake, freshness.DOCUMENT_PASSAGES, source, {"doc_source": source}, made)

    @declared(freshness.CODE_QUESTIONS, writers, ask_once())
    def qa_code(context: Context, lake: InLake, settings: InSettings) -> None:
        _write_questions(context, lake, settings, freshness.CODE_QUESTIONS, QuestionKind.CODE)

    @declared(freshness.DOC_QUESTIONS, writers, ask_once(), [asked_about])
    def qa_doc(context: Context, lake: InLake, settings: InSettings) -> None:
        _write_questions(context, lake, settings, freshness.DOC_QUESTIONS, QuestionKind.DOC)

    return [llm_docs, pymatgen_doc, qa_code, qa_doc]


def _write_questions(context: Context, lake: Lake, settings: Settings, step: Step, kind: QuestionKind) -> None:
    entries, progress = _entries(context, settings), Progress(context, len(context.partition_keys))
    with telling(context), Ledger(settings.ledger_url) as ledger:
        check_doc_source(settings, registry_of(settings).entries)
        runs = [written_questions(lake, settings, ledger, entry, kind) for entry in entries.values()]
        for name, made, dropped, unanswered in side_by_side(runs):
            lake.write(QA_DROPPED, {"origin": name, "kind": kind.value}, dropped.rows, {})
            note = questions_note(lake, settings, entries[name], kind, unanswered) or {}
            store(context, lake, step, name, {"origin": name}, made, **note)
            told = kept_and_dropped(made.rows.num_rows, reasons_dropped(dropped.rows))
            context.log.info(f"{step.table.name}, {name}: {told}")
            progress.finished(name)


def _entries(context: Context, settings: Settings, without: Sequence[str] = ()) -> dict[str, ModelEntry]:
    """The run's models by name. Raises RegistryError for one that models.yaml does not have."""
    registry = registry_of(settings)
    return {name: registry[name] for name in context.partition_keys if name not in without}
