"""What the replies of all entrants under the direct protocol have in common: which are kept, and what is noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cme_assets import schemas, versions
from cme_assets.page.inert import inert
from resources.lake import Lake
from resources.llm.batched import WAITING, WAITS
from resources.outcomes import Status
from resources.stage import Remarks

NAME = "direct"
VARIANT = "published"
TABLE = schemas.DIRECT_RESPONSES

Row = dict[str, Any]
Question = tuple[int, str, str, int]
"""Resolution, problem, hash of the prompt, repeat."""

UNSERVED: Mapping[str, None] = dict.fromkeys(column.name for column in schemas.SERVED)
"""What only a provider can tell, of a reply that has none."""


def question_of(row: Mapping[str, Any]) -> Question:
    """What a stored reply answers."""
    return row["resolution"], row["problem_id"], row["prompt_hash"], row["repeat"]


def kept_replies(lake: Lake, model: str, category: str, identity: str) -> dict[Question, Row]:
    """Earlier replies by the same entrant that need not be asked for again. Raises LakeError."""
    key = {"model": model, "category": category}
    stored = lake.stored(TABLE, key)
    # A file of another form cannot be read; what was paid for is in the ledger too.
    if stored is None or stored.provenance.get("code_version") != versions.DIRECT:
        return {}
    rows = lake.read(TABLE, key).to_pylist()
    return {question_of(r): r for r in rows if r["entrant_hash"] == identity and Status(r["status"]).is_scored}


def reply_row(prompt: Mapping[str, Any], model: str, repeat: int, identity: str, reply: Mapping[str, Any]) -> Row:
    """The row of a reply to the question of `prompt`; `reply` has the columns that are neither question nor entrant."""
    return {
        "model": model,
        "protocol": NAME,
        "variant": VARIANT,
        "repeat": repeat,
        **{name: prompt[name] for name in ("resolution", "problem_id", "category", "level", "prompt_hash")},
        "entrant_hash": identity,
        **reply,
    }


def remarks(rows: Sequence[Mapping[str, Any]], asked: int) -> Remarks:
    """What a reader of the partition wants to see: counts, money, time, and how the requests ended."""
    costs = [row["cost_usd"] for row in rows]
    seconds = [row["latency_s"] for row in rows]
    found: Remarks = {
        "asked": asked,
        "replies": len(rows),
        "unanswered": sum(not Status(row["status"]).is_scored for row in rows),
        "prompt tokens": sum(row["prompt_tokens"] for row in rows),
        "completion tokens": sum(row["completion_tokens"] for row in rows),
        "seconds": sum(seconds),
        "longest reply (s)": max(seconds, default=0.0),
        "endings": _endings(rows),
    }
    if None not in costs:
        found["cost (USD)"] = sum(costs)
    # A batch under way is no failure, although its questions have no answer yet.
    waiting = sum(row["error"] == WAITS for row in rows)
    if waiting:
        found["waiting for a batch"] = waiting
    # A refusal is the model's own text: in one line it cannot end the block that it is shown in.
    failures = sorted(
        {f"{r['problem_id']}: {inert(' '.join(r['error'].split()))}" for r in rows if r["error"] not in (None, WAITS)}
    )
    return found | ({"failures": "```\n" + "\n".join(failures) + "\n```"} if failures else {})


def _endings(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(WAITING if row["error"] == WAITS else str(row["status"]) for row in rows)
    return "\n".join(["| ended | replies |", "|---|---|", *(f"| {s} | {n} |" for s, n in counts.most_common())])
