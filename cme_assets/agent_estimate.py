"""What an agent's runs would cost, before any: an agent asks what follows from what it was answered.

How many replies a run has and how long they are is taken from the model's runs so far, or else assumed; the most is
what the agents' limits allow. Each request repeats the conversation before it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cme_assets import schemas
from cme_assets.protocols.agent_prompts import code_messages, react_messages
from cme_assets.protocols.protocol import Protocol
from cme_assets.stages.prompting import stored_problem
from resources.agent_limits import AgentLimits
from resources.lake import Lake
from resources.llm.estimate import SHORTEST_CACHED_PROMPT, Estimate
from resources.llm.pricing import cost_usd
from resources.llm.tokens import prompt_tokens
from resources.llm.usage import Usage
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.settings import Settings

ASSUMED_REPLIES = {"code": 1, "react": 4}
"""In a run of a model that has none here yet."""
REPORT_TOKENS, LONGEST_REPORT_TOKENS = 500, 3_000
"""Of a script's outputs and residuals as the model reads them."""


@dataclass(frozen=True, slots=True)
class Usual:
    """Replies of a run, and tokens of a reply."""

    replies: float
    tokens: float


def agent_estimate(
    lake: Lake, settings: Settings, protocol: Protocol, entry: ModelEntry, limits: AgentLimits, answer_tokens: int
) -> Estimate:
    """The runs that have no final outcome yet. Raises LakeError."""
    done = _runs(lake, protocol, entry, protocol.entrant_hash(entry, settings))
    usual = usual_run(done, ASSUMED_REPLIES[protocol.name], answer_tokens)
    finished = {_question(run) for run in done}
    open_runs = [
        _opening_tokens(prompt, protocol.name, limits, entry)
        for key in lake.keys(schemas.PROMPTS)
        for prompt in lake.read(schemas.PROMPTS, key).to_pylist()
        if entry.resolutions is None or prompt["resolution"] in entry.resolutions
        for repeat in range(entry.repeats)
        if _question(prompt | {"repeat": repeat}) not in finished
    ]
    most = ASSUMED_REPLIES["code"] if protocol.name == "code" else limits.steps
    likely = _usage(open_runs, usual.replies, usual.tokens, REPORT_TOKENS)
    cap = entry.parameters.max_output_tokens
    # The last reply may pass the limit of tokens, and none its own cap.
    longest = min(cap, (limits.tokens + cap) / most)
    now = time.time()
    uncached = Usage(likely.prompt_tokens, 0, 0, likely.completion_tokens, 0)
    return Estimate(
        f"{entry.name} as {protocol.name}",
        round(len(open_runs) * usual.replies),
        sum(len(_asked(run)) for run in done),
        likely.prompt_tokens or 0,
        likely.completion_tokens or 0,
        0,
        cost_usd(entry, uncached, now),
        cost_usd(entry, uncached if entry.capabilities.cache == "none" else likely, now),
        None,
        cost_usd(entry, _usage(open_runs, most, longest, LONGEST_REPORT_TOKENS, cached=False), now),
    )


def _usage(openings: Sequence[int], replies: float, tokens: float, report: float, *, cached: bool = True) -> Usage:
    """Of runs that begin with so many tokens; what an earlier request of the run held is read from a cache."""
    added = (tokens + report) * replies * (replies - 1) / 2
    prompt = sum(opening * replies + added for opening in openings)
    written = sum(opening + (tokens + report) * (replies - 1) for opening in openings)
    # A prompt that is sent once is not written into a cache.
    fits = cached and replies > 1 and all(opening >= SHORTEST_CACHED_PROMPT for opening in openings)
    read = prompt - written if fits else 0.0
    return Usage(round(prompt), round(read), round(written) if fits else 0, round(len(openings) * replies * tokens), 0)


def _runs(lake: Lake, protocol: Protocol, entry: ModelEntry, identity: str) -> list[dict[str, Any]]:
    table = protocol.responses.table
    keys = [key for key in lake.keys(table) if key["model"] == entry.name]
    rows = [row for key in keys for row in lake.read(table, key).to_pylist()]
    return [row for row in rows if row["entrant_hash"] == identity and Status(row["status"]).is_scored]


def usual_run(done: Sequence[dict[str, Any]], replies: int, tokens: int) -> Usual:
    asked = [step for run in done for step in _asked(run)]
    if not asked:
        return Usual(replies, tokens)
    return Usual(len(asked) / len(done), sum(step["completion_tokens"] for step in asked) / len(asked))


def _asked(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps that are replies; the last script's trial is none."""
    return [step for step in run["steps"] if step["completion_tokens"]]


def _opening_tokens(prompt: dict[str, Any], protocol: str, limits: AgentLimits, entry: ModelEntry) -> int:
    problem = stored_problem(prompt)
    if protocol == "code":
        return prompt_tokens({"messages": code_messages(problem, limits)})
    return prompt_tokens({"messages": react_messages(problem, limits, entry.capabilities.tools)})


def _question(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["resolution"], row["problem_id"], row["prompt_hash"], row["repeat"]
