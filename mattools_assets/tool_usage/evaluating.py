"""One evaluation's answers, whoever gives them; what is there already is kept and not asked for again."""

from __future__ import annotations

from collections.abc import Iterable

from mattools_assets.tool_usage.answers import keyless_answers, keyless_identity
from mattools_assets.tool_usage.entrants import (
    LIVE_SYSTEMS,
    PROTOCOL,
    RECORDED,
    REFERENCE,
    Evaluation,
    keyless_evaluations,
)
from mattools_assets.tool_usage.executions import Counted
from mattools_assets.tool_usage.question_sets import Tasks, ToolUsageError
from resources.lake import Lake
from resources.model_entry import ModelEntry
from resources.registry import Registry
from resources.settings import Settings
from resources.stage import Made


def evaluations(settings: Settings, entries: Iterable[ModelEntry]) -> list[Evaluation]:
    """The keyless evaluations, and those of the entries that take part. Raises ToolUsageError."""
    live = [
        Evaluation(entry.name, system) for entry in entries if PROTOCOL in entry.protocols for system in LIVE_SYSTEMS
    ]
    return [*keyless_evaluations(settings), *live]


def answers_of(
    evaluation: Evaluation, lake: Lake, settings: Settings, registry: Registry, tasks: Tasks, told: Counted
) -> Made:
    """The rows of `tool_answers`. Raises ToolUsageError, also for a pair that is no evaluation."""
    if evaluation.system in (REFERENCE, RECORDED):
        if evaluation not in keyless_evaluations(settings):
            raise ToolUsageError(_no_evaluation(evaluation))
        return keyless_answers(evaluation, tasks, settings)
    del lake, registry, told
    raise ToolUsageError(f"{evaluation.model} under {evaluation.system}: this system is not there yet")


def identity_of(evaluation: Evaluation, settings: Settings, registry: Registry, tasks: Tasks) -> str:
    """The `entrant_hash` of an evaluation: whom it is that answers, and how."""
    if evaluation.system in (REFERENCE, RECORDED):
        return keyless_identity(evaluation, tasks, settings)
    del registry
    raise ToolUsageError(f"{evaluation.model} under {evaluation.system}: this system is not there yet")


def _no_evaluation(evaluation: Evaluation) -> str:
    if evaluation.system == REFERENCE:
        return f"{evaluation.model} under {REFERENCE}: reference solutions are no model's; choose {REFERENCE} for both"
    return (
        f"{evaluation.model} under {RECORDED}: nothing of it is recorded where CONDMAT_MATTOOLS points; "
        f"choose one of {', '.join(LIVE_SYSTEMS)} for a model whose entry has the protocol {PROTOCOL}"
    )
