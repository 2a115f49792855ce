"""Who answers questions: evaluations are a model under a system, and two systems need no model.

`reference` answers with the reference solutions; `recorded` holds functions that models wrote elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mattools_assets.questions.recordings import RecordedAnswer, RecordedRunError, read_run, run_name
from mattools_assets.systems.catalogue import SYSTEMS as CATALOGUE
from mattools_assets.tool_usage.question_sets import Tasks, ToolUsageError, recorded_files
from resources.lake import combined_hash
from resources.settings import Settings

REFERENCE, RECORDED = "reference", "recorded"
LIVE_SYSTEMS = tuple(CATALOGUE)
SYSTEMS = (REFERENCE, RECORDED, *LIVE_SYSTEMS)
LIVE, IMPORTED = "live", "recorded"
PROTOCOL = "tools"
"""The protocol of models.yaml under which a model takes part."""

# Our names of the systems as files of recorded runs name them.
_WRITTEN = {
    "single_llm": "single",
    "agentic_rag": "agentic-rag",
    "graph_rag": "graph-rag",
    "self_reflection_source1": "reflection-published-1",
    "self_reflection_source4": "reflection-published-4",
    **{f"rag_source{number}": f"rag-{number}" for number in (1, 2, 3, 4)},
}
_RUN = re.compile(r"(?P<system>.+?)__(?P<model>.+)__run(?P<run>\d+)")


@dataclass(frozen=True, order=True)
class Evaluation:
    """A model under a system: one partition."""

    model: str
    system: str

    @property
    def key(self) -> dict[str, str]:
        """The partition's key in the lake."""
        return {"model": self.model, "system": self.system}


@dataclass(frozen=True)
class RecordedRun:
    """One recorded run: who answered, which repetition it is (from 0), and the answers."""

    model: str
    system: str
    repeat: int
    answers: tuple[RecordedAnswer, ...]


def recorded_runs(settings: Settings) -> list[RecordedRun]:
    """The runs in the folder that CONDMAT_MATTOOLS names; none without one. Raises ToolUsageError."""
    files = [] if settings.mattools is None else recorded_files(settings.mattools)
    runs = []
    for path in files:
        model, system, repeat = parts_of(run_name(path))
        try:
            runs.append(RecordedRun(model, system, repeat, tuple(read_run(path))))
        except RecordedRunError as error:
            raise ToolUsageError(str(error)) from None
    return runs


def parts_of(name: str) -> tuple[str, str, int]:
    """Model, system and repetition of a run called `<system>__<model>__run<number>`; another name is a model's."""
    found = _RUN.fullmatch(name)
    if found is None:
        return name, RECORDED, 0
    return found["model"], _WRITTEN.get(found["system"], found["system"]), max(int(found["run"]) - 1, 0)


def keyless_evaluations(settings: Settings) -> list[Evaluation]:
    """The evaluations that need no model. Raises ToolUsageError."""
    recorded = sorted({run.model for run in recorded_runs(settings)})
    return [Evaluation(REFERENCE, REFERENCE), *(Evaluation(model, RECORDED) for model in recorded)]


def reference_hash(tasks: Tasks) -> str:
    """Identity of the reference answers."""
    return combined_hash(REFERENCE, *(task.reference.source for task in tasks.values()))


def recorded_hash(runs: Iterable[RecordedRun]) -> str:
    """Identity of what was recorded."""
    return combined_hash(RECORDED, *map(repr, runs))
