"""One run of an agent with the real client, ledger and sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cme_assets.protocols.agent import Task
from cme_assets.protocols.agent_surroundings import LedgeredSurroundings
from cme_assets.protocols.transcript import Run
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.model_entry import Capabilities, ModelEntry, Parameters
from resources.sandbox.kept import Executions
from resources.sandbox.pool import Sandbox


async def run(
    protocol: Callable[..., Any],
    task: Task,
    address: str,
    folder: Path,
    sandbox: Sandbox,
    tools: bool,
    tokens: int = 1000,
) -> Run:
    """A run of `protocol` by the model at `address`, with ledger and executions in `folder`."""
    entry = ModelEntry(
        name="scripted",
        provider="openai_compatible",
        model="scripted",
        base_url=address,
        free=True,
        capabilities=Capabilities(tools=tools),
        parameters=Parameters(max_output_tokens=tokens),
    )
    with Ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger, Executions(folder / "done.sqlite") as executions:
        async with Client(entry, ledger, {}) as client:
            around = LedgeredSurroundings(client, sandbox, executions, task.limits, tools, "test")
            outcome: Run = await protocol(task, around)
            return outcome
