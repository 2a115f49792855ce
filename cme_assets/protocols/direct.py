"""The direct protocol: the prompt is sent once and the reply is read. Reference entrants answer under it too."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from cme_assets import freshness, schemas, solvers
from cme_assets.prompts import answer_text
from cme_assets.protocols.model_replies import model_replies, partition_of
from cme_assets.protocols.protocol import Asked, Protocol, ProtocolError
from cme_assets.protocols.replies import NAME, TABLE, UNSERVED, Row, kept_replies, question_of, remarks, reply_row
from cme_assets.stages.prompting import stored_problem
from cme_assets.tables import TableError
from resources.lake import Lake, LakeError, combined_hash
from resources.llm.database import LedgerError
from resources.outcomes import Status
from resources.registry import ModelEntry
from resources.settings import Settings
from resources.stage import Made
from resources.tokens import count_tokens
from resources.workers import Workers


def answers_here(entry: ModelEntry) -> bool:
    """Whether the entry answers on this machine, without a provider."""
    return entry.provider == "reference"


def anybody(entry: ModelEntry) -> bool:  # noqa: ARG001 - whoever it is
    """Every entry can be shown a prompt."""
    return True


def entrant_hash(entry: ModelEntry, settings: Settings) -> str:  # noqa: ARG001 - limits are the agents'
    """Identity of whom is asked and with which parameters; another one makes the question a new one."""
    if answers_here(entry):
        return combined_hash("reference", entry.name, _solvers_hash())
    asked = entry.model_dump_json(include={"provider", "model", "base_url", "parameters", "capabilities"})
    return combined_hash("model", asked)


def answer(lake: Lake, workers: Workers, settings: Settings, asked: Asked) -> Iterator[tuple[int, Made]]:
    """Replies to the prompts of each category by each entry asked. Raises ProtocolError when the ledger fails."""
    numbered = [
        (place, entry, category, entrant_hash(entry, settings)) for place, (entry, category) in enumerate(asked)
    ]
    here = [each for each in numbered if answers_here(each[1])]
    arguments = [(lake, entry.name, category, identity) for _, entry, category, identity in here]
    for index, made in workers.map(make_reference_replies, arguments):
        yield here[index][0], made
    partitions = [partition_of(lake, *each) for each in numbered if not answers_here(each[1])]
    try:
        yield from model_replies(lake, settings, partitions)
    except LedgerError as error:
        raise ProtocolError(f"{NAME}: {error}") from None


def make_reference_replies(lake: Lake, model: str, category_id: str, identity: str) -> Made:
    """Replies of a reference entrant to a category's prompts; those that it has given already are kept.

    There are none to a category for which the entrant has no method: having none is no wrong answer.

    `identity` is the entrant's hash. Raises LakeError for a stored table that cannot be read.
    """
    kept = kept_replies(lake, model, category_id, identity)
    prompts = lake.read(schemas.PROMPTS, {"category": category_id}).to_pylist()
    asked = [{**prompt, "repeat": 0} for prompt in prompts]
    try:
        rows = [
            kept.get(question_of(prompt)) or reply_row(prompt, model, 0, identity, _solve(lake, prompt, model))
            for prompt in asked
        ]
    except NotImplementedError as missing:
        return Made(TABLE.rows([]), {"not answered": str(missing)})
    return Made(TABLE.rows(rows), remarks(rows, len(rows) - sum(question_of(prompt) in kept for prompt in asked)))


def _solve(lake: Lake, prompt: Mapping[str, Any], model: str) -> Row:
    try:
        problem = stored_problem(prompt)
    except TableError as error:
        path = lake.path(schemas.PROMPTS, {"category": prompt["category"]})
        raise LakeError(f"{path}: table of {error}; delete this file and run again") from None
    start = time.perf_counter()
    try:
        text, status, failure = answer_text(list(solvers.ENTRANTS[model](problem))), Status.OK, None
    except NotImplementedError:
        raise
    except Exception as error:  # whatever a solver raises is its own failure, like a model's
        text, status, failure = "", Status.CODE_ERROR, f"{type(error).__name__}: {error}"
    return {
        "status": str(status),
        "reply": text,
        "error": failure,
        "prompt_tokens": prompt["prompt_tokens"],
        "completion_tokens": count_tokens(text),
        "cost_usd": 0.0,
        "latency_s": time.perf_counter() - start,
        **UNSERVED,
    }


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
    can_answer=anybody,
)
