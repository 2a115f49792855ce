"""The code protocol: the model writes one script, unseen and untried, which is run on the question's map."""

from __future__ import annotations

from cme_assets import freshness
from cme_assets.protocols.agent import Surroundings, Task, answered_by
from cme_assets.protocols.agent_prompts import code_messages
from cme_assets.protocols.agent_replies import last_script
from cme_assets.protocols.agent_runs import Agent
from cme_assets.protocols.transcript import Run, replied
from resources.llm.providers import CachePlan
from resources.outcomes import Status


async def run_code(task: Task, around: Surroundings) -> Run:
    """One run under the code protocol. Raises LedgerError."""
    answer = await around.ask(code_messages(task.problem, task.limits), (), 1)
    script = last_script(answer.text) if answer.status is Status.OK else None
    status = Status.NO_CODE if answer.status is Status.OK and script is None else answer.status
    steps = [replied(1, answer, script, "", (), status)]
    if script is None:
        return Run(status, "", answer.error or "the reply has no fenced Python block", tuple(steps))
    return await answered_by(script, task, steps, around)


CODE = Agent("code", run_code, freshness.CODE_RUNS, freshness.CODE_SCORES, CachePlan.ONCE).protocol()
