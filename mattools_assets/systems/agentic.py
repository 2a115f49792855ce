"""Agentic retrieval: keywords and sub-queries, a ranking, a draft, look-up of what it names, ranking, the function.

As published, over the documents of whole objects: each of the three rankings is asked up to ten times until it can be
read, and so is the function; everything else once. So 9 to 45 requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from mattools_assets.systems import prompts
from mattools_assets.systems.base import Ended, Entity, K, Retrieved, Session, System, function_of
from mattools_assets.systems.rag import passages
from mattools_assets.systems.replies import Function
from mattools_assets.systems.sources import OBJECT_DOCS

QUERIES = 4
TRIES = 10
KEPT = 5
"""Passages after a ranking."""
RANKINGS = ("rank documents", "rank all documents", "rank code")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])?\s*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


async def answer(session: Session) -> Function:
    """The function of the final request."""
    question, room = session.question.text, session.room
    keywords = await session.ask_text(prompts.keywords_prompt(question), "keywords")
    chunks = await _decomposed(session)
    documents = await _ranked(session, passages(chunks), RANKINGS[0])
    draft = await session.ask_text(prompts.draft_prompt(question, documents, room), "draft")
    named = await _entities(session, "entity of the draft", draft)
    named += await _entities(session, "entity of the question", f"{question}\n\n{keywords}")
    documents = await _ranked(session, _once([*documents, *(item.document for item in named)]), RANKINGS[1])
    found = session.entities([chunk.document_id for chunk in chunks])
    code = await _ranked(session, _once(item.code for item in [*named, *found]), RANKINGS[2])
    return await _final(session, prompts.final_prompt(question, code, documents, room))


async def _decomposed(session: Session) -> list[Retrieved]:
    """What the sub-queries find, each chunk once."""
    reply = await session.ask_text(prompts.queries_prompt(session.question.text, QUERIES), "queries")
    queries = _lines(reply)[:QUERIES] or [session.question.text]
    chunks: dict[str, Retrieved] = {}
    for query in queries:
        for chunk in await session.retrieve(OBJECT_DOCS, query):
            chunks.setdefault(chunk.chunk_id, chunk)
    return list(chunks.values())


async def _ranked(session: Session, texts: Sequence[str], step: str) -> list[str]:
    """The five best texts by the model's scores; all of them when it never gives scores that can be read."""
    prompt = prompts.ranking_prompt(session.question.text, texts, session.room)
    # Two rankings of one question may be of the same texts, and are asked for apart all the same.
    first = TRIES * RANKINGS.index(step)
    for again in range(first, first + TRIES):
        scores = read_scores(await session.ask_text(prompt, step, again), len(texts))
        if scores is not None:
            order = sorted(scores, key=lambda number: -scores[number])
            return [texts[number - 1] for number in order[:KEPT]]
    return list(texts)


async def _entities(session: Session, step: str, text: str) -> list[Entity]:
    reply = await session.ask_text(prompts.entity_prompt(text, session.room), step)
    name = read_entity(reply)
    return session.look_up(name)[:KEPT] if name else []


async def _final(session: Session, prompt: Sequence[dict[str, Any]]) -> Function:
    for again in range(TRIES):
        reply = await session.ask(prompt, "answer", again)
        try:
            return function_of(reply)
        except Ended as end:
            last = end
    raise last


def _once(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text.strip()]


def _lines(reply: str) -> list[str]:
    return [line for raw in reply.splitlines() if (line := _BULLET.sub("", raw).strip())]


def read_scores(reply: str, count: int) -> dict[int, float] | None:
    """Score by the passage's number, from 1 to `count`; None when the reply holds none that can be read."""
    entries = _json_in(reply).get("scores")
    scores: dict[int, float] = {}
    for entry in entries if isinstance(entries, list) else ():
        number, score = (entry.get("number"), entry.get("score")) if isinstance(entry, dict) else (None, None)
        if isinstance(number, bool) or isinstance(score, bool):
            continue
        if isinstance(number, int) and isinstance(score, int | float) and 1 <= number <= count and score == score:
            scores.setdefault(number, float(score))
    return (scores or None) if count else {}


def read_entity(reply: str) -> str | None:
    """The plain name in the reply's JSON, without what encloses it; None when there is none."""
    name = _json_in(reply).get("name")
    found = _NAME.search(name) if isinstance(name, str) else None
    return found.group().rstrip(".").rpartition(".")[2] if found else None


def _json_in(reply: str) -> dict[str, Any]:
    """The first JSON object of a reply, whatever stands around it; empty when there is none."""
    start = reply.find("{")
    try:
        value = json.JSONDecoder().raw_decode(reply, start)[0] if start >= 0 else {}
    except (ValueError, RecursionError):
        value = {}
    return value if isinstance(value, dict) else {}


# All queries find the same, nothing is looked up; or each finds something else, and no ranking can be read, so that all
# is kept that was found and looked up. Code counts as a passage.
_SHORTEST = (0, 0, KEPT, KEPT, 0, 0, KEPT, KEPT, 2 * KEPT)
_FOUND, _KNOWN = QUERIES * K, QUERIES * K + 2 * KEPT
_LONGEST = (0, 0, *TRIES * (_FOUND,), _FOUND, 0, 0, *2 * TRIES * (_KNOWN,), *TRIES * (2 * _KNOWN,))

AGENTIC = System(
    "agentic-rag",
    answer,
    version=prompts.VERSION,
    shortest=_SHORTEST,
    longest=_LONGEST,
    sources=(OBJECT_DOCS,),
)
