"""Which models are not done after a run, and what would mend that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.docs.writing import State
from mattools_assets.qa.questions import QA_DROPPED
from mattools_assets.qa.scores import QA_ANSWERS
from mattools_assets.qa.synthesis import NO_REPLY_YET
from mattools_assets.tool_usage.tables import TOOL_ANSWERS
from resources.lake import Lake
from resources.llm.unanswered import failed_at_provider, stopped_by_budget, waiting_for_batches
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.settings import Settings


def unanswered(lake: Lake, entries: Sequence[ModelEntry], settings: Settings) -> list[str]:
    """A line for each model that waits for a batch, that its provider failed or a budget stopped. Raises LakeError."""
    writing = _stopped_documents(lake) + _stopped_questions(lake)
    return [
        *waiting_for_batches(lake, [QA_ANSWERS], entries),
        *failed_at_provider(lake, [QA_ANSWERS, TOOL_ANSWERS], entries),
        *stopped_by_budget(lake, [QA_ANSWERS, TOOL_ANSWERS], entries, settings, writing),
    ]


def _stopped_documents(lake: Lake) -> Counter[str]:
    """By writer; where some were stopped, those that wait for them count too."""
    found: Counter[str] = Counter()
    for key in lake.keys(LLM_DOCS):
        rows = lake.read(LLM_DOCS, key, ["status", "state"])
        if stopped := rows.column("status").to_pylist().count(Status.BUDGET_STOPPED):
            found[key["doc_source"]] = stopped + rows.column("state").to_pylist().count(State.WAITING)
    return found


def _stopped_questions(lake: Lake) -> Counter[str]:
    """By writer."""
    found: Counter[str] = Counter()
    for key in lake.keys(QA_DROPPED):
        reasons = lake.read(QA_DROPPED, key, ["reason"]).column("reason").to_pylist()
        found[key["origin"]] += reasons.count(f"{NO_REPLY_YET}{Status.BUDGET_STOPPED}")
    return found
