"""The direct protocol: the prompt is sent once and the reply is read. Reference entrants answer under it too."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cme_assets import freshness, schemas, solvers
from cme_assets.prompts import answer_text
from cme_assets.protocols.protocol import Asked, Protocol
from cme_assets.stages.prompting import stored_problem
from cme_assets.stages.result import Made
from cme_assets.tables import TableError
from resources.lake import Lake, LakeError, combined_hash
from resources.outcomes import Status
from resources.registry import ModelEntry
from resources.tokens import count_tokens
from resources.workers import Workers

NAME = "direct"
VARIANT = "published"
TABLE = schemas.DIRECT_RESPONSES


class ProtocolError(Exception):
    """An entry that the protocol cannot ask; the message is one line."""


@dataclass(frozen=True)
class Reply:
    """What came back, and how it ended."""

    text: str
    status: Status
    error: str | None
    seconds: float


def answers_here(entry: ModelEntry) -> bool:
    """Whether the entry answers on this machine, without a provider."""
    return entry.provider == "reference"


def entrant_hash(entry: ModelEntry) -> str:
    """Identity of whom is asked and with which parameters; another one makes the question a new one."""
    if answers_here(entry):
        return combined_hash("reference", entry.name, _solvers_hash())
    asked = entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
    return combined_hash("model", asked)


def answer(lake: Lake, workers: Workers, asked: Asked) -> Iterator[tuple[int, Made]]:
    """Replies to the prompts of each category by each entry asked."""
    for entry, _ in asked:
        if not answers_here(entry):
            raise ProtocolError(f"{entry.name}: only reference entrants can be asked yet")
    arguments = [(lake, entry.name, category, entrant_hash(entry)) for entry, category in asked]
    yield from workers.map(make_reference_replies, arguments)


def make_reference_replies(lake: Lake, model: str, category_id: str, identity: str) -> Made:
    """Replies of a reference entrant to a category's prompts; those that it has given already are kept.

    `identity` is the entrant's hash. Raises LakeError for a stored table that cannot be read.
    """
    key = {"model": model, "category": category_id}
    kept = _kept(lake, key, identity)
    prompts = lake.read(schemas.PROMPTS, {"category": category_id}).to_pylist()
    rows = [kept.get(_question(p)) or _row(p, model, identity, _solve(lake, p, model)) for p in prompts]
    return Made(TABLE.rows(rows), _remarks(rows, len(rows) - sum(_question(p) in kept for p in prompts)))


def _kept(lake: Lake, key: Mapping[str, str], identity: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Earlier replies to the same prompts by the same entrant that need not be asked for again."""
    if lake.stored(TABLE, key) is None:
        return {}
    rows = lake.read(TABLE, key).to_pylist()
    return {_question(r): r for r in rows if r["entrant_hash"] == identity and Status(r["status"]).is_scored}


def _question(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["resolution"], row["problem_id"], row["prompt_hash"]


def _solve(lake: Lake, prompt: Mapping[str, Any], model: str) -> Reply:
    try:
        problem = stored_problem(prompt)
    except TableError as error:
        path = lake.path(schemas.PROMPTS, {"category": prompt["category"]})
        raise LakeError(f"{path}: table of {error}; delete this file and run again") from None
    start = time.perf_counter()
    try:
        text, status, failure = answer_text(list(solvers.ENTRANTS[model](problem))), Status.OK, None
    except Exception as error:  # whatever a solver raises is its own failure, like a model's
        text, status, failure = "", Status.CODE_ERROR, f"{type(error).__name__}: {error}"
    return Reply(text, status, failure, time.perf_counter() - start)


def _row(prompt: Mapping[str, Any], model: str, identity: str, reply: Reply) -> dict[str, Any]:
    return {
        "model": model,
        "protocol": NAME,
        "variant": VARIANT,
        "repeat": 0,
        **{name: prompt[name] for name in ("resolution", "problem_id", "category", "level")},
        "status": str(reply.status),
        "reply": reply.text,
        "error": reply.error,
        "prompt_tokens": prompt["prompt_tokens"],
        "completion_tokens": count_tokens(reply.text),
        "cost_usd": 0.0,
        "latency_s": reply.seconds,
        "prompt_hash": prompt["prompt_hash"],
        "entrant_hash": identity,
    }


def _remarks(rows: Iterable[Mapping[str, Any]], asked: int) -> dict[str, str | float | int]:
    rows = list(rows)
    failures = sorted({f"{row['problem_id']}: {row['error']}" for row in rows if row["error"]})
    remarks: dict[str, str | float | int] = {
        "asked": asked,
        "replies": len(rows),
        "seconds": sum(row["latency_s"] for row in rows),
        "cost (USD)": sum(row["cost_usd"] for row in rows),
    }
    return remarks | ({"failures": "```\n" + "\n".join(failures) + "\n```"} if failures else {})


@lru_cache(maxsize=1)
def _solvers_hash() -> str:
    """Identity of the solvers' source: they change often, and solving again costs a minute and no money."""
    folder = Path(solvers.__file__).parent
    sources = sorted(folder.rglob("*.py"))
    return combined_hash(*(f"{path.relative_to(folder).as_posix()}\n{path.read_text()}" for path in sources))


DIRECT = Protocol(
    name=NAME,
    responses=freshness.DIRECT_RESPONSES,
    scores=freshness.DIRECT_SCORES,
    answer=answer,
    entrant_hash=entrant_hash,
    can_answer=answers_here,
)
