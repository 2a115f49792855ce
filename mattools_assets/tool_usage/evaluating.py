"""One evaluation's answers, whoever gives them; what is there already is kept and not asked for again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mattools_assets.systems.catalogue import SYSTEMS as LIVE
from mattools_assets.systems.opening import Place, documents_used
from mattools_assets.tool_usage.answers import Row, keyless_answers, keyless_identity, live_row, made
from mattools_assets.tool_usage.entrants import (
    LIVE_SYSTEMS,
    PROTOCOL,
    RECORDED,
    REFERENCE,
    Evaluation,
    keyless_evaluations,
)
from mattools_assets.tool_usage.executions import Counted
from mattools_assets.tool_usage.live import live_answers, live_identity
from mattools_assets.tool_usage.question_sets import Task, Tasks, ToolUsageError
from mattools_assets.tool_usage.tables import TOOL_ANSWERS
from resources.lake import Lake
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.registry import Registry
from resources.settings import Settings
from resources.stage import Made

ANSWERS_VERSION = "2"


def evaluations(settings: Settings, entries: Iterable[ModelEntry]) -> list[Evaluation]:
    """The keyless evaluations, and those of the entries that take part. Raises ToolUsageError."""
    taking = [entry for entry in entries if PROTOCOL in entry.protocols]
    live = [Evaluation(entry.name, system) for entry in taking for system in systems_of(entry)]
    return [*keyless_evaluations(settings), *live]


def systems_of(entry: ModelEntry) -> tuple[str, ...]:
    """The live systems under which an entry answers. Raises ToolUsageError for a name that is none."""
    for name in entry.systems or ():
        if name not in LIVE_SYSTEMS:
            known = ", ".join(LIVE_SYSTEMS)
            raise ToolUsageError(f"models.yaml: model {entry.name!r}, field systems: {name!r} is none; use {known}")
    return LIVE_SYSTEMS if entry.systems is None else entry.systems


def answers_of(
    evaluation: Evaluation, lake: Lake, settings: Settings, registry: Registry, tasks: Tasks, told: Counted
) -> Made:
    """The rows of `tool_answers`; a pair that is no evaluation has none, and a remark why. Raises ToolUsageError."""
    if why := _no_evaluation(evaluation, settings, registry):
        return Made(TOOL_ANSWERS.rows([]), {"no evaluation": why})
    if evaluation.system in (REFERENCE, RECORDED):
        return keyless_answers(evaluation, tasks, settings)
    entry, system = registry[evaluation.model], LIVE[evaluation.system]
    place = Place(lake, settings, registry)
    plan = planned(evaluation, place, tasks)
    rows, asked = plan.kept, plan.open
    found = documents_used(system, place) if asked else None
    for task, repeat, answer in live_answers(place, entry, system, asked, told) if asked else ():
        rows[_place(task, repeat)] = live_row(evaluation, task, repeat, plan.identity, answer, found)
    return made([rows[_place(task, repeat)] for task, repeat in plan.wanted], len(asked))


@dataclass(frozen=True, slots=True)
class Plan:
    """What a live evaluation is to answer, each question with its repeats, and by whom; `kept` is answered already."""

    identity: str
    wanted: list[tuple[Task, int]]
    kept: dict[tuple[str, ...], Row]

    @property
    def open(self) -> list[tuple[Task, int]]:
        """What is to be asked."""
        return [(task, repeat) for task, repeat in self.wanted if _place(task, repeat) not in self.kept]


def planned(evaluation: Evaluation, place: Place, tasks: Tasks) -> Plan:
    """The plan of a live evaluation with the documents in the lake. Raises ToolUsageError, LakeError."""
    entry = place.registry[evaluation.model]
    identity = live_identity(place, entry, LIVE[evaluation.system])
    wanted = [(task, n) for task in tasks.values() if task.question.data_at_hand for n in range(entry.repeats)]
    return Plan(identity, wanted, kept_answers(evaluation, place.lake, identity))


def identity_of(evaluation: Evaluation, lake: Lake, settings: Settings, registry: Registry, tasks: Tasks) -> str:
    """The `entrant_hash` of an evaluation: whom it is that answers, and how; repetitions count too."""
    if _no_evaluation(evaluation, settings, registry):
        return ""
    if evaluation.system in (REFERENCE, RECORDED):
        return keyless_identity(evaluation, tasks, settings)
    entry = registry[evaluation.model]
    identity = live_identity(Place(lake, settings, registry), entry, LIVE[evaluation.system])
    return f"{identity} x {entry.repeats}"


def kept_answers(evaluation: Evaluation, lake: Lake, identity: str) -> dict[tuple[str, ...], Row]:
    """Earlier answers by the same entrant that need not be asked for again, by set, question, its hash and repeat."""
    stored = lake.stored(TOOL_ANSWERS, evaluation.key)
    # A file of another form cannot be read; what was paid for is in the ledger too.
    if stored is None or stored.provenance.get("code_version") != ANSWERS_VERSION:
        return {}
    return {
        (row["question_set"], row["question_id"], row["question_hash"], str(row["repeat"])): row
        for row in lake.read(TOOL_ANSWERS, evaluation.key).to_pylist()
        if row["entrant_hash"] == identity and Status(row["status"]).is_scored
    }


def _place(task: Task, repeat: int) -> tuple[str, ...]:
    return task.question_set, task.id, task.question_hash, str(repeat)


def _no_evaluation(evaluation: Evaluation, settings: Settings, registry: Registry) -> str | None:
    """Why a pair of model and system is none, or None: a range of partitions has all pairs."""
    if evaluation.system in (REFERENCE, RECORDED):
        if evaluation in keyless_evaluations(settings):
            return None
        reasons = {REFERENCE: "reference solutions are no model's", RECORDED: "nothing of it is recorded"}
        return reasons[evaluation.system]
    if evaluation.model not in {entry.name for entry in registry.entries}:
        return "it is not in models.yaml"
    entry = registry[evaluation.model]
    if PROTOCOL not in entry.protocols:
        return f"its entry in models.yaml has not the protocol {PROTOCOL}"
    return None if evaluation.system in systems_of(entry) else "its entry in models.yaml leaves this system out"
