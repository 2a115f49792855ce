"""Self-reflection: the function is run, and where it fails or leaves a property None, there is another round.

No round ever learns what the verification says. At most five rounds. Two kinds:

* as published: errors and the critic's words change only what is searched for next; the function is asked for anew each
  time, and each reply is put into its form by a request of its own;
* `reflection`: what came of the function and the critic's words reach the next request together with the function.
"""

from __future__ import annotations

from mattools_assets.systems import prompts
from mattools_assets.systems.base import Ended, K, Round, Session, System, Trial, function_of
from mattools_assets.systems.rag import passages
from mattools_assets.systems.replies import Function, inside
from mattools_assets.systems.sources import CODE, OBJECT_DOCS
from resources.outcomes import Status

ROUNDS = 5


def published(name: str, source: str) -> System:
    """Reflection as published over `source`: 2 to 18 requests."""

    async def answer(session: Session) -> Function:
        query = session.question.text
        for session.round in range(1, ROUNDS + 1):
            function, end = await _formed(session, source, query)
            trial = await session.execute(function) if function else None
            session.rounds.append(Round(session.round, function, trial))
            if function and trial and trial.satisfies:
                return function
            if function and trial and session.round < ROUNDS:
                query = await _next_query(session, function, trial) or query
        if function is None:
            raise end or Ended(Status.UNPARSEABLE, "no round gave a function")
        return function

    reviewed = (K, 0, 0, 0)  # function, form, critique, its form
    longest = (*(ROUNDS - 1) * reviewed, K, 0)
    return System(
        name,
        answer,
        version=prompts.VERSION,
        shortest=(K, 0),
        longest=longest,
        sources=(source,),
        needs_sandbox=True,
    )


async def _formed(session: Session, source: str, query: str) -> tuple[Function | None, Ended | None]:
    """The function of a round, or why there is none."""
    chunks = await session.retrieve(source, query)
    prompt = prompts.function_prompt(session.question.text, passages(chunks), session.room)
    text = await session.ask_text(prompt, "generate", session.round - 1)
    reply = await session.ask(prompts.form_prompt(text, session.room), "form", session.round - 1)
    try:
        return function_of(reply), None
    except Ended as end:
        return None, end


async def _next_query(session: Session, function: Function, trial: Trial) -> str:
    """What the critic wants to be searched for; all that it said where it gave no such part."""
    critique = await _critique(session, function, trial)
    formed = await session.ask_text(
        prompts.critique_form_prompt(critique, session.room), "critique form", session.round - 1
    )
    return (inside(formed, "search") or formed).strip()


async def _critique(session: Session, function: Function, trial: Trial) -> str:
    prompt = prompts.critique_prompt(session.question.text, function.source, trial.told(), session.room)
    return await session.ask_text(prompt, "critique", session.round - 1)


async def reflect(session: Session) -> Function:
    """Reflection in which errors and critique reach the next round: 1 to 9 requests.

    The answer is the function that left the fewest properties None or missing, the last of such.
    """
    chunks = await session.retrieve(OBJECT_DOCS, session.question.text)
    first = prompts.function_prompt(session.question.text, passages(chunks), session.room // 2)
    messages = first
    best: tuple[int, Function] | None = None
    last: Ended | None = None
    for session.round in range(1, ROUNDS + 1):
        reply = await session.ask(messages, "generate", session.round - 1)
        try:
            function = function_of(reply)
        except Ended as end:
            last = end
            session.rounds.append(Round(session.round, None, None, end.reason))
            messages = _answered(first, reply.text, prompts.NO_FUNCTION, session.room)
            continue
        trial = await session.execute(function)
        absent = len(session.question.properties) if not trial.returned else len(trial.none) + len(trial.missing)
        if best is None or absent <= best[0]:
            best = absent, function
        feedback = ""
        if not (trial.satisfies and not trial.missing) and session.round < ROUNDS:
            feedback = await _feedback(session, function, trial)
            messages = _answered(first, reply.text, feedback, session.room)
        session.rounds.append(Round(session.round, function, trial, feedback))
        if not feedback:
            break
    if best is None:
        raise last or Ended(Status.UNPARSEABLE, "no round gave a function")
    return best[1]


async def _feedback(session: Session, function: Function, trial: Trial) -> str:
    review = await _critique(session, function, trial)
    critique = (inside(review, "critique") or review).strip()
    wanted = (inside(review, "search") or "").strip()
    chunks = await session.retrieve(OBJECT_DOCS, wanted) if wanted else ()
    return prompts.mend_prompt(trial.told(), critique, passages(chunks), session.room // 4)


def _answered(first: list[dict], reply: str, message: str, room: int) -> list[dict]:
    """The question, the last reply and what is said to it; earlier rounds are left out, so that it stays short."""
    said = prompts.cut(reply.strip(), room // 4) or "(nothing)"
    return [*first, {"role": "assistant", "content": said}, {"role": "user", "content": message}]


REFLECTION = (
    published("reflection-published-1", CODE),
    published("reflection-published-4", OBJECT_DOCS),
    System(
        "reflection",
        reflect,
        version=prompts.VERSION,
        shortest=(K,),
        longest=(K, *(ROUNDS - 1) * (0, 2 * K)),  # a critique, then the function with a second search
        sources=(OBJECT_DOCS,),
        needs_sandbox=True,
    ),
)
