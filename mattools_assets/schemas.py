"""The tables of MatTools in the lake, by part. Each table is declared beside the code that makes its rows."""

from __future__ import annotations

from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.qa.passages import PYMATGEN_CODE, PYMATGEN_DOC
from mattools_assets.qa.questions import QA_CODE, QA_DOC, QA_DROPPED, QA_HANDWRITTEN, QA_PUBLISHED
from mattools_assets.qa.scores import QA_ACCURACY, QA_ANSWERS, QA_SCORES
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS, TOOL_SOURCE
from mattools_assets.systems.recall import RETRIEVAL_RECALL
from mattools_assets.tool_usage.tables import TABLES as TOOL_TABLES
from mattools_assets.triplets.tables import TRIPLET_DRAFTS, UNIT_TESTS
from mattools_assets.triplets.tables import TRIPLETS as TRIPLET_SET
from resources.lake import LakeTable
from resources.retrieval.tables import RETRIEVAL_CHUNKS, RETRIEVAL_VECTORS

KNOWLEDGE: tuple[LakeTable, ...] = (
    *(TOOL_SOURCE, CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS, LLM_DOCS, PYMATGEN_CODE, PYMATGEN_DOC),
    *(QA_CODE, QA_DOC, QA_PUBLISHED, QA_HANDWRITTEN, QA_DROPPED, QA_ANSWERS, QA_SCORES, QA_ACCURACY),
)
TRIPLETS: tuple[LakeTable, ...] = (UNIT_TESTS, TRIPLET_DRAFTS, TRIPLET_SET)
RETRIEVAL: tuple[LakeTable, ...] = (RETRIEVAL_CHUNKS, RETRIEVAL_VECTORS, RETRIEVAL_RECALL)
TOOL_USAGE: tuple[LakeTable, ...] = TOOL_TABLES
ALL = (*KNOWLEDGE, *TRIPLETS, *RETRIEVAL, *TOOL_USAGE)
