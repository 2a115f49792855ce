"""Runs of agents over categories: many at a time, all in the ledger as they go, a category handed on when done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from cme_assets import schemas
from cme_assets.freshness import Step
from cme_assets.protocols.agent import Surroundings, Task
from cme_assets.protocols.agent_surroundings import ENVIRONMENT, LedgeredSurroundings
from cme_assets.protocols.protocol import Asked, Protocol, ProtocolError
from cme_assets.protocols.transcript import Run
from cme_assets.stages.prompting import stored_problem
from resources.agent_limits import AgentLimits
from resources.lake import Lake, combined_hash
from resources.llm.asking import client_for, fault_line
from resources.llm.client import Client
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.providers import CachePlan
from resources.llm.side_by_side import side_by_side
from resources.llm.spending import budget_of
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.registry import read_environment
from resources.sandbox.environments import environment
from resources.sandbox.kept import FILE_NAME, Executions
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.sandbox.selection import open_sandbox
from resources.settings import Settings
from resources.stage import Made, Remarks
from resources.workers import Workers

_log = logging.getLogger(__name__)

Row = Mapping[str, Any]
RunAgent = Callable[[Task, Surroundings], Awaitable[Run]]
Perform = Callable[[Row, int], Awaitable[Run]]


@dataclass(frozen=True)
class Agent:
    """One of the agents' protocols: its name, how a run goes, and where runs and scores are kept."""

    name: str
    run: RunAgent
    runs: Step
    scores: Step
    plan: CachePlan

    def protocol(self) -> Protocol:
        """As the assets know it."""
        return Protocol(
            name=self.name,
            responses=self.runs,
            scores=self.scores,
            answer=partial(answer, self),
            entrant_hash=partial(entrant_hash, self),
            can_answer=lambda entry: entry.provider != "reference",
        )


@dataclass(frozen=True)
class Means:
    """What all runs of one asking share."""

    agent: Agent
    lake: Lake
    settings: Settings
    limits: AgentLimits
    sandbox: Sandbox
    ledger: Ledger
    executions: Executions


def agent_limits(settings: Settings) -> AgentLimits:
    """The limits that are set. Raises ProtocolError."""
    try:
        return AgentLimits.of(dict(settings.agent_limits))
    except ValueError as error:
        raise ProtocolError(f"CONDMAT_AGENT_LIMITS: {error}") from None


def entrant_hash(agent: Agent, entry: ModelEntry, settings: Settings) -> str:
    """Identity of whom is asked, with which parameters, within which limits and with which packages."""
    asked = entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
    limits = agent_limits(settings)
    return combined_hash("agent", agent.name, asked, repr(limits), environment(ENVIRONMENT).fingerprint)


def answer(agent: Agent, lake: Lake, workers: Workers, settings: Settings, asked: Asked) -> Iterator[tuple[int, Made]]:
    """Runs of each entry on each category asked. Raises ProtocolError when there is no sandbox or no ledger."""
    del workers  # requests wait and scripts run in the sandbox: nothing is computed here
    limits = agent_limits(settings)
    numbered = sorted(enumerate(asked), key=lambda item: item[1][0].name)
    try:
        with (
            open_sandbox(ENVIRONMENT, settings, limits.script) as sandbox,
            Ledger(settings.ledger_url) as ledger,
            Executions(settings.data / FILE_NAME) as executions,
        ):
            means = Means(agent, lake, settings, limits, sandbox, ledger, executions)
            for _, group in groupby(numbered, key=lambda item: item[1][0].name):
                places = [(place, entry, category) for place, (entry, category) in group]
                yield from side_by_side([_asked(means, places)])
    except (SandboxUnavailable, LedgerError) as error:
        raise ProtocolError(f"{agent.name}: {error}") from None


async def _asked(means: Means, places: Sequence[tuple[int, ModelEntry, str]]) -> AsyncGenerator[tuple[int, Made], None]:
    """The categories of one entry, each as soon as all its runs are done."""
    entry = places[0][1]
    at_once = asyncio.Semaphore(entry.max_concurrency)
    async with AsyncExitStack() as stack:
        perform = await _performing(means, entry, stack)

        async def made(place: int, category: str) -> tuple[int, Made]:
            return place, await _category(means, entry, category, perform, at_once)

        tasks = [asyncio.create_task(made(place, category)) for place, _, category in places]
        try:
            for done in asyncio.as_completed(tasks):
                yield await done
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _performing(means: Means, entry: ModelEntry, stack: AsyncExitStack) -> Perform:
    """What makes a run of a prompt and a repeat: with the entry's client, open until `stack` is closed.

    A model that cannot be asked, or a run that breaks, leaves runs without a score and stops no other.
    """
    keys, budget = read_environment(means.settings.models_file), budget_of(means.settings)
    try:
        client = await stack.enter_async_context(client_for(entry, means.ledger, keys, budget, _log))
    except LedgerError:
        raise
    except Exception as error:  # no key, no answer to the probe, or a fault of whatever kind
        _log.warning("%s", error)
        unasked = Run(getattr(error, "status", Status.PROVIDER_ERROR), "", str(error), ())

        async def nobody(_prompt: Row, _repeat: int) -> Run:
            return unasked

        return nobody

    async def perform(prompt: Row, repeat: int) -> Run:
        try:
            task = Task(stored_problem(prompt), means.limits)
            return await means.agent.run(task, _around(means, client, prompt, repeat))
        except (LedgerError, SandboxUnavailable):
            raise
        except Exception as error:
            _log.exception("%s, %s: the run broke", entry.name, prompt["problem_id"])
            return Run(Status.PROVIDER_ERROR, "", fault_line(error), ())

    return perform


async def _category(
    means: Means, entry: ModelEntry, category: str, perform: Perform, at_once: asyncio.Semaphore
) -> Made:
    table, identity = means.agent.runs.table, entrant_hash(means.agent, entry, means.settings)
    prompts = [
        row
        for row in means.lake.read(schemas.PROMPTS, {"category": category}).to_pylist()
        if entry.resolutions is None or row["resolution"] in entry.resolutions
    ]
    stored = _stored(means, {"model": entry.name, "category": category})
    kept = {_question(row): row for row in stored if row["entrant_hash"] == identity and _is_final(row)}

    async def row(prompt: Row, repeat: int) -> dict[str, Any]:
        question = (prompt["resolution"], prompt["problem_id"], repeat, prompt["prompt_hash"])
        if question in kept:
            return kept[question]
        async with at_once:
            run = await perform(prompt, repeat)
        return _row(means, entry, prompt, repeat, identity, run)

    rows = await asyncio.gather(*(row(prompt, repeat) for prompt in prompts for repeat in range(entry.repeats)))
    hashes = {prompt["prompt_hash"] for prompt in prompts}
    others = [row for row in stored if row["variant"] != means.limits.variant and row["prompt_hash"] in hashes]
    return Made(table.rows([*rows, *others]), _remarks(rows, len(rows) - len(kept)))


def _around(means: Means, client: Client, prompt: Mapping[str, Any], repeat: int) -> LedgeredSurroundings:
    purpose = f"cme {means.agent.name} {prompt['problem_id']} {prompt['resolution']}"
    tools = client.entry.capabilities.tools
    return LedgeredSurroundings(
        client, means.sandbox, means.executions, means.limits, tools, purpose, repeat, means.agent.plan
    )


def _stored(means: Means, key: Mapping[str, str]) -> list[dict[str, Any]]:
    table, stored = means.agent.runs.table, means.lake.stored(means.agent.runs.table, key)
    # A file of another form cannot be read; what was paid for is in the ledger too.
    if stored is None or stored.provenance.get("code_version") != means.agent.runs.code_version:
        return []
    rows: list[dict[str, Any]] = means.lake.read(table, key).to_pylist()
    return rows


def _question(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["resolution"], row["problem_id"], row["repeat"], row["prompt_hash"]


def _is_final(row: Mapping[str, Any]) -> bool:
    return Status(row["status"]).is_scored


def _row(
    means: Means, entry: ModelEntry, prompt: Mapping[str, Any], repeat: int, identity: str, run: Run
) -> dict[str, Any]:
    return {
        "model": entry.name,
        "protocol": means.agent.name,
        "variant": means.limits.variant,
        "repeat": repeat,
        **{name: prompt[name] for name in ("resolution", "problem_id", "category", "level", "prompt_hash")},
        **run.columns(),
        "entrant_hash": identity,
    }


def _remarks(rows: Sequence[Mapping[str, Any]], asked: int) -> Remarks:
    endings: dict[str, int] = {}
    for row in rows:
        endings[row["status"]] = endings.get(row["status"], 0) + 1
    known = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    remarks: Remarks = {
        "asked": asked,
        "runs": len(rows),
        "steps": sum(len(row["steps"]) for row in rows),
        "endings": ", ".join(f"{count} {status}" for status, count in sorted(endings.items())),
        "seconds in the sandbox": sum(step["wall_s"] for row in rows for step in row["steps"]),
    }
    return remarks | ({"cost (USD)": sum(known)} if len(known) == len(rows) else {})
