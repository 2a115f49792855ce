"""What both agents share: whom they ask, where their scripts run, and the last script on the question's map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.prompts import answer_text
from cme_assets.protocols.agent_files import map_files, submitted_numbers
from cme_assets.protocols.transcript import Run, Step, tested
from resources.agent_limits import AgentLimits
from resources.llm.answer import Answer
from resources.llm.request import Message
from resources.outcomes import Status
from resources.sandbox.execution import Execution


class Surroundings(Protocol):
    """The model and the sandbox of one run. Both keep what was done, so that a killed run goes on where it was."""

    @property
    def has_tools(self) -> bool:
        """Whether the model can call tools."""

    async def ask(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], step: int) -> Answer:
        """The reply to `messages`. Raises LedgerError."""

    async def execute(self, script: str, files: Mapping[str, bytes]) -> Execution:
        """What `script` does in a new, empty sandbox that holds `files` and nothing else."""


@dataclass(frozen=True)
class Task:
    """What an agent is to do, within which limits."""

    problem: ClosedBookProblem
    limits: AgentLimits


async def answered_by(script: str, task: Task, steps: list[Step], around: Surroundings) -> Run:
    """The end of a run: `script` on the question's map, where neither the examples nor earlier trials are."""
    execution = await around.execute(script, map_files(task.problem, task.problem.test))
    steps = [*steps, tested(len(steps) + 1, script, execution)]
    if execution.status is not Status.OK:
        return Run(execution.status, "", _reason(execution), tuple(steps))
    values = submitted_numbers(execution.result) if execution.submitted else None
    # Without numbers, what the script printed is read as a model's reply would be.
    reply = execution.stdout if values is None else answer_text(values)
    return Run(Status.OK, reply, None, tuple(steps))


def _reason(execution: Execution) -> str:
    last = execution.stderr.strip().splitlines()[-1:]
    return ": ".join(part for part in (execution.detail, *last) if part) or str(execution.status)
