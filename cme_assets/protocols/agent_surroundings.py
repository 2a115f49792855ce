"""A real model and a real sandbox around an agent: requests go through the ledger, executions through their store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resources.agent_limits import AgentLimits
from resources.llm.answer import Answer
from resources.llm.client import Client
from resources.llm.providers import CachePlan
from resources.llm.request import ChatRequest, Message
from resources.sandbox import environments
from resources.sandbox.execution import Execution
from resources.sandbox.kept import Executions, execution_key
from resources.sandbox.pool import Sandbox

ENVIRONMENT = "cme"


@dataclass(frozen=True)
class LedgeredSurroundings:
    """See `agent.Surroundings`; `purpose` labels the run's requests in the ledger, `plan` says whether
    a later step sends the same beginning again."""

    client: Client
    sandbox: Sandbox
    executions: Executions
    limits: AgentLimits
    has_tools: bool
    purpose: str
    repeat: int = 0
    plan: CachePlan = CachePlan.AGAIN

    async def ask(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], step: int) -> Answer:
        """The reply, from the ledger where it has one."""
        request = ChatRequest(messages, self.repeat, f"{self.purpose} step {step}", tools=tools)
        return await self.client.ask(request, plan=self.plan)

    async def execute(self, script: str, files: Mapping[str, bytes]) -> Execution:
        """The execution that was kept, or a new one."""
        return await asyncio.to_thread(self._execute, script, files)

    def _execute(self, script: str, files: Mapping[str, bytes]) -> Execution:
        limits = self.limits.script
        key = execution_key(script, files, limits, environments.environment(ENVIRONMENT).fingerprint)
        kept = self.executions.get(key)
        return kept or self.executions.keep(key, self.sandbox.run(script, files, limits))
