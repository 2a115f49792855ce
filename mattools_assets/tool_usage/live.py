"""Answers of a model under a live system, many at a time; requests are in the ledger and executions are kept."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from mattools_assets.systems.base import System, ToolAnswer, answer_question
from mattools_assets.systems.library import Library
from mattools_assets.systems.opening import Place, opened_library, system_identity, why_off
from mattools_assets.systems.sources import SourceMissing
from mattools_assets.systems.surroundings import LedgeredSurroundings
from mattools_assets.tool_usage.executions import Counted
from mattools_assets.tool_usage.question_sets import Task, ToolUsageError
from mattools_assets.tool_usage.runs import kept_runs
from resources.lake import LakeError, combined_hash
from resources.llm.answer import Tally
from resources.llm.asking import client_for, fault_line
from resources.llm.capabilities import UnfitEntry
from resources.llm.client import Client
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.probing import ProbeFailed
from resources.llm.spending import budget_of
from resources.model_entry import ModelEntry
from resources.outcomes import endings
from resources.registry import read_environment
from resources.retrieval.choice import EmbedderError
from resources.sandbox.pool import SandboxUnavailable

_log = logging.getLogger(__name__)

Answered = tuple[Task, int, ToolAnswer]
"""A question, the repetition, and the answer."""


def live_identity(place: Place, entry: ModelEntry, system: System) -> str:
    """Identity of whom is asked, how, and with which documents found by whose vectors. Raises ToolUsageError."""
    asked = entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
    try:
        return combined_hash("tools", asked, system_identity(system, place))
    except EmbedderError as error:
        raise ToolUsageError(str(error)) from None


def live_answers(
    place: Place, entry: ModelEntry, system: System, asked: Sequence[tuple[Task, int]], told: Counted
) -> list[Answered]:
    """An answer to each of `asked`, whatever became of it.

    Raises ToolUsageError for a missing key, source, sandbox or ledger.
    """
    settings = place.settings
    keys = read_environment(settings.models_file)
    try:
        if off := entry.why_off(keys) or why_off(system, place):
            raise ToolUsageError(off)
        tally = Tally()
        with Ledger(settings.ledger_url) as ledger, kept_runs(settings) as runs:

            def around(client: Client, library: Library, task: Task, repeat: int) -> LedgeredSurroundings:
                purpose = f"tools {system.name} {task.id}"
                return LedgeredSurroundings(
                    client, client.entry, library, runs, purpose, repeat, settings.data / "mattools", tally
                )

            async def ask() -> list[Answered]:
                asking = client_for(entry, ledger, keys, budget_of(settings), _log)
                async with opened_library(system, place, ledger) as library, asking as client:
                    one = partial(around, client, library)
                    return await _ask(system, one, entry.max_concurrency, asked, partial(_tell, told, tally))

            return asyncio.run(ask())
    except (ProbeFailed, UnfitEntry) as error:
        raise ToolUsageError(str(error)) from None
    except (EmbedderError, SourceMissing, SandboxUnavailable, LedgerError) as error:
        raise ToolUsageError(f"{entry.name} under {system.name}: {error}") from None
    except (ToolUsageError, LakeError):
        raise
    except Exception as error:  # of this evaluation: the others go on
        _log.exception("%s under %s", entry.name, system.name)
        raise ToolUsageError(f"{entry.name} under {system.name}: {fault_line(error)}") from None


def _tell(told: Counted, tally: Tally, answers: list[Answered], total: int) -> None:
    """How the answers ended so far, and what their requests took."""
    told(len(answers), total, f"{endings(answer.status for *_, answer in answers)}; requests: {tally}")


async def _ask(
    system: System,
    around: Callable[[Task, int], LedgeredSurroundings],
    at_once: int,
    asked: Sequence[tuple[Task, int]],
    told: Callable[[list[Answered], int], None],
) -> list[Answered]:
    free, answers, lost = asyncio.Semaphore(at_once), list[Answered](), list[BaseException]()

    async def one(task: Task, repeat: int) -> None:
        async with free:
            answer = await answer_question(system, task.question, around(task, repeat))
        answers.append((task, repeat, answer))
        told(answers, len(asked))

    try:
        async with asyncio.TaskGroup() as group:
            for task, repeat in asked:
                group.create_task(one(task, repeat))
    except* (SandboxUnavailable, LedgerError) as failures:
        lost += failures.exceptions  # what is raised here would be wrapped into a group again
    if lost:
        raise lost[0]
    return answers
