"""The tables of MatTools in the lake, by part. Each table is declared beside the code that makes its rows."""

from __future__ import annotations

from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.qa.questions import QA_CODE, QA_DOC, QA_DROPPED
from mattools_assets.qa.scores import QA_ACCURACY, QA_ANSWERS, QA_SCORES
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS
from mattools_assets.tool_usage.tables import TABLES as TOOL_TABLES
from resources.lake import LakeTable

KNOWLEDGE: tuple[LakeTable, ...] = (
    *(CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS, LLM_DOCS),
    *(QA_CODE, QA_DOC, QA_DROPPED, QA_ANSWERS, QA_SCORES, QA_ACCURACY),
)
TRIPLETS: tuple[LakeTable, ...] = ()
TOOL_USAGE: tuple[LakeTable, ...] = TOOL_TABLES
ALL = (*KNOWLEDGE, *TRIPLETS, *TOOL_USAGE)
