"""Answers of a model under a live system, many at a time; requests are in the ledger and executions are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from mattools_assets.systems.base import System, ToolAnswer, answer_question
from mattools_assets.systems.library import open_library
from mattools_assets.systems.sources import SourceMissing
from mattools_assets.systems.surroundings import LedgeredSurroundings
from mattools_assets.tool_usage.executions import Counted
from mattools_assets.tool_usage.question_sets import Task, ToolUsageError
from mattools_assets.tool_usage.runs import kept_runs
from resources.lake import Lake, combined_hash
from resources.llm.client import Client
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.spending import budget_of
from resources.model_entry import ModelEntry
from resources.registry import read_environment
from resources.retrieval.embedders import WordLlamaEmbedder
from resources.retrieval.tables import RETRIEVAL_CHUNKS
from resources.sandbox.pool import SandboxUnavailable
from resources.settings import Settings

Answered = tuple[Task, int, ToolAnswer]
"""A question, the repetition, and the answer."""


def live_identity(lake: Lake, entry: ModelEntry, system: System) -> str:
    """Identity of whom is asked, how, and with which documents."""
    asked = entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
    stored = [lake.stored(RETRIEVAL_CHUNKS, {"source": source}) for source in system.sources]
    documents = [each.content_hash if each else "" for each in stored]
    embedder = WordLlamaEmbedder.name if documents else ""
    return combined_hash("tools", asked, system.name, system.version, *documents, embedder)


def live_answers(
    lake: Lake,
    settings: Settings,
    entry: ModelEntry,
    system: System,
    asked: Sequence[tuple[Task, int]],
    told: Counted,
) -> list[Answered]:
    """An answer to each of `asked`, whatever became of it.

    Raises ToolUsageError for a missing key, source, sandbox or ledger.
    """
    keys = read_environment(settings.models_file)
    if off := entry.why_off(keys):
        raise ToolUsageError(off)
    try:
        library = open_library(lake, system.sources, WordLlamaEmbedder())
        with Ledger(settings.ledger_url) as ledger, kept_runs(settings) as runs:
            client = Client(entry, ledger, keys, budget_of(settings))

            def around(task: Task, repeat: int) -> LedgeredSurroundings:
                return LedgeredSurroundings(client, entry, library, runs, f"tools {system.name} {task.id}", repeat)

            return asyncio.run(_ask(client, system, around, entry.max_concurrency, asked, told))
    except (SourceMissing, SandboxUnavailable, LedgerError) as error:
        raise ToolUsageError(f"{entry.name} under {system.name}: {error}") from None


async def _ask(
    client: Client,
    system: System,
    around: Callable[[Task, int], LedgeredSurroundings],
    at_once: int,
    asked: Sequence[tuple[Task, int]],
    told: Counted,
) -> list[Answered]:
    free, answers, lost = asyncio.Semaphore(at_once), list[Answered](), list[BaseException]()

    async def one(task: Task, repeat: int) -> None:
        async with free:
            answer = await answer_question(system, task.question, around(task, repeat))
        answers.append((task, repeat, answer))
        told(len(answers), len(asked), f"{task.id}: {answer.status}")

    try:
        async with client, asyncio.TaskGroup() as group:
            for task, repeat in asked:
                group.create_task(one(task, repeat))
    except* (SandboxUnavailable, LedgerError) as failures:
        lost += failures.exceptions  # what is raised here would be wrapped into a group again
    if lost:
        raise lost[0]
    return answers
