"""The knowledge side's steps: what each file of the lake was made from, beside what `resources.freshness` notes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mattools_assets import versions
from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.qa.passages import PYMATGEN_CODE, PYMATGEN_DOC
from mattools_assets.qa.questions import QA_CODE, QA_DOC, QA_HANDWRITTEN, QA_PUBLISHED
from mattools_assets.qa.scores import QA_ACCURACY, QA_ANSWERS, QA_SCORES
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS, TOOL_SOURCE
from resources.freshness import Provenance
from resources.freshness import Step as BaseStep
from resources.lake import Key, Lake, LakeTable, combined_hash


@dataclass(frozen=True)
class Step(BaseStep):
    """One asset. Of `gathered` tables all partitions count that there are, be it none."""

    gathered: tuple[LakeTable, ...] = ()

    def provenance(self, lake: Lake, key: Key, **more: str) -> Provenance | None:
        """What a file made now would note down; None where an input is missing."""
        if self.gathered:
            more = {"gathered_hash": gathered_hash(lake, self.gathered), **more}
        return super().provenance(lake, key, **more)


def gathered_hash(lake: Lake, tables: Iterable[LakeTable]) -> str:
    """Identity of all contents of the tables."""
    found = [(table, key, lake.stored(table, key)) for table in tables for key in lake.keys(table)]
    parts = [(table.name, *key.values(), stored.content_hash) for table, key, stored in found if stored]
    return combined_hash(*(text for part in parts for text in part))


QUESTION_SETS = (QA_HANDWRITTEN, QA_PUBLISHED, QA_CODE, QA_DOC)
"""The tables whose questions models are asked."""

SOURCE = Step(TOOL_SOURCE, (), versions.SOURCE)
OBJECTS = Step(CODE_OBJECTS, (TOOL_SOURCE,), versions.SOURCE)
EDGES = Step(REFERENCES, (TOOL_SOURCE,), versions.SOURCE)
PROBLEMS = Step(SOURCE_PROBLEMS, (TOOL_SOURCE,), versions.SOURCE)
CODE_PASSAGES = Step(PYMATGEN_CODE, (CODE_OBJECTS, REFERENCES), versions.PASSAGES)
HANDWRITTEN = Step(QA_HANDWRITTEN, (), versions.QUESTIONS)
PUBLISHED = Step(QA_PUBLISHED, (), versions.QUESTIONS)

DOCUMENTS = Step(LLM_DOCS, (CODE_OBJECTS, REFERENCES), versions.DOCUMENTS)
DOCUMENT_PASSAGES = Step(PYMATGEN_DOC, (CODE_OBJECTS, REFERENCES, LLM_DOCS), versions.PASSAGES)

CODE_QUESTIONS = Step(QA_CODE, (PYMATGEN_CODE,), versions.QUESTIONS)
DOC_QUESTIONS = Step(QA_DOC, (), versions.QUESTIONS)

ANSWERS = Step(QA_ANSWERS, (), versions.ANSWERS, gathered=QUESTION_SETS)
SCORES = Step(QA_SCORES, (QA_ANSWERS,), versions.SCORER, gathered=QUESTION_SETS)
ACCURACY = Step(QA_ACCURACY, (QA_ANSWERS,), versions.SCORER, gathered=QUESTION_SETS)
