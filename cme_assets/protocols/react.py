"""The ReAct protocol: the model tries scripts on the examples, sees their residuals, and closes with one.

The closing script runs on the question's map alone, in a new sandbox: nothing of the examples, their answers or the
trials is there.
"""

from __future__ import annotations

from cme_assets import freshness
from cme_assets.protocols.agent import Surroundings, Task, answered_by
from cme_assets.protocols.agent_files import map_files
from cme_assets.protocols.agent_prompts import RUN_SCRIPT, react_messages, trial_report
from cme_assets.protocols.agent_replies import continued, wish
from cme_assets.protocols.agent_runs import Agent
from cme_assets.protocols.transcript import Run, Step, replied
from resources.llm.providers import CachePlan
from resources.llm.request import Message
from resources.outcomes import Status
from resources.sandbox.execution import Execution


async def run_react(task: Task, around: Surroundings) -> Run:
    """One run under the ReAct protocol. Raises LedgerError."""
    messages: list[Message] = react_messages(task.problem, task.limits, around.has_tools)
    tools = (RUN_SCRIPT,) if around.has_tools else ()
    steps: list[Step] = []
    script: str | None = None
    for number in range(1, task.limits.steps + 1):
        answer = await around.ask(messages, tools, number)
        has_fallen_silent = answer.status is Status.EMPTY and script is not None
        if answer.status is not Status.OK and not has_fallen_silent:
            return Run(answer.status, "", answer.error, (*steps, replied(number, answer, None, "", (), answer.status)))
        wanted = wish(answer, script)
        if wanted.script is None and wanted.complaint is None:
            status = Status.OK if script is not None else Status.NO_CODE
            steps.append(replied(number, answer, None, "", (), status))
            return await _closed(script, task, steps, around)
        trials: list[Execution] = []
        report = wanted.complaint or ""
        if wanted.script is not None:
            script, trials = wanted.script, await _tried(wanted.script, task, around)
            report = trial_report(task.problem, trials, task.limits.steps - number)
        status = trials[-1].status if trials else Status.NO_CODE
        steps.append(replied(number, answer, wanted.script, report, trials, status))
        ending = _ending(task, steps, status)
        if ending is not None:
            return ending
        messages = [*messages, *continued(answer, report)]
    return Run(Status.STEP_LIMIT, "", f"no answer within {task.limits.steps} replies", tuple(steps))


async def _tried(script: str, task: Task, around: Surroundings) -> list[Execution]:
    """The script on the examples in turn, each by itself, up to the first on which it fails."""
    done: list[Execution] = []
    for example in task.problem.examples:
        done.append(await around.execute(script, map_files(task.problem, example)))
        if done[-1].status is not Status.OK:
            break
    return done


async def _closed(script: str | None, task: Task, steps: list[Step], around: Surroundings) -> Run:
    if script is None:
        return Run(Status.NO_CODE, "", "no script was ever tried", tuple(steps))
    return await answered_by(script, task, steps, around)


def _ending(task: Task, steps: list[Step], status: Status) -> Run | None:
    """The run's end where it cannot go on: the sandbox has failed, or tokens or processor time are used up."""
    if not status.is_scored:
        return Run(status, "", "the sandbox failed", tuple(steps))
    tokens, seconds = sum(step.completion_tokens for step in steps), sum(step.cpu_s for step in steps)
    if tokens > task.limits.tokens:
        return Run(Status.STEP_LIMIT, "", f"{tokens} tokens were written, {task.limits.tokens} allowed", tuple(steps))
    if seconds > task.limits.seconds:
        return Run(
            Status.STEP_LIMIT, "", f"trials took {seconds:.0f} s, {task.limits.seconds:g} s allowed", tuple(steps)
        )
    return None


REACT = Agent("react", run_react, freshness.REACT_RUNS, freshness.REACT_SCORES, CachePlan.AGAIN).protocol()
