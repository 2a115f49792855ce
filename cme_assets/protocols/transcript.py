"""What an agent did, step by step, as it is stored and shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from resources.llm.answer import Answer
from resources.outcomes import Status
from resources.sandbox.execution import Execution
from resources.tokens import count_tokens

EXAMPLES, TEST = "examples", "test"


@dataclass(frozen=True)
class Step:
    """One reply with what came of it, or, on `stage` test, the last script on the question's map.

    `status` says how the script ended (or the request, where there is no script); `output` is what the agent was told,
    on the test what the script wrote. Times in seconds, `peak_memory` in bytes, both of the scripts.
    """

    number: int
    stage: str
    status: str
    request_hash: str | None
    message: str
    reasoning: str
    script: str | None
    output: str
    wall_s: float
    cpu_s: float
    peak_memory: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    latency_s: float


@dataclass(frozen=True)
class Run:
    """A whole run. `reply` is the answer as text where `status` is ok; `error` says why there is none."""

    status: Status
    reply: str
    error: str | None
    steps: tuple[Step, ...]

    @property
    def script(self) -> str | None:
        """The last script."""
        return next((step.script for step in reversed(self.steps) if step.script is not None), None)

    def columns(self) -> dict[str, Any]:
        """The columns of a row of runs that only the run knows."""
        costs = [step.cost_usd for step in self.steps]
        known = [cost for cost in costs if cost is not None]
        return {
            "status": str(self.status),
            "reply": self.reply,
            "error": self.error,
            "script": self.script,
            "steps": [asdict(step) for step in self.steps],
            "prompt_tokens": sum(step.prompt_tokens for step in self.steps),
            "completion_tokens": sum(step.completion_tokens for step in self.steps),
            "cost_usd": sum(known) if len(known) == len(costs) else None,
            "latency_s": sum(step.latency_s + step.wall_s for step in self.steps),
        }


def replied(
    number: int, answer: Answer, script: str | None, output: str, executions: Sequence[Execution], status: Status
) -> Step:
    """The step of a reply; `executions` are of its script on the examples."""
    usage = answer.usage
    return Step(
        number=number,
        stage=EXAMPLES,
        status=str(status),
        request_hash=answer.hash,
        message=answer.text,
        reasoning=answer.reasoning,
        script=script,
        output=output,
        **_spent(executions),
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=written(answer),
        cost_usd=answer.cost_usd if answer.attempts else 0.0,
        latency_s=answer.latency or 0.0,
    )


def tested(number: int, script: str, execution: Execution) -> Step:
    """The step of the last script on the question's map; it costs no tokens."""
    return Step(
        number=number,
        stage=TEST,
        status=str(execution.status),
        request_hash=None,
        message="",
        reasoning="",
        script=script,
        output=execution.stdout + execution.stderr,
        **_spent([execution]),
        prompt_tokens=0,
        completion_tokens=0,
        cost_usd=0.0,
        latency_s=0.0,
    )


def written(answer: Answer) -> int:
    """Tokens of a reply: the provider's count, which has the reasoning in it, or ours where it has none."""
    if answer.usage.completion_tokens is not None:
        return answer.usage.completion_tokens
    return count_tokens(answer.text + answer.reasoning)


def _spent(executions: Iterable[Execution]) -> dict[str, Any]:
    done = list(executions)
    return {
        "wall_s": sum(execution.wall_s for execution in done),
        "cpu_s": sum(execution.cpu_s for execution in done),
        "peak_memory": max((execution.peak_memory for execution in done), default=0),
    }
