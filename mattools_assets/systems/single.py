"""The model alone: one request."""

from __future__ import annotations

from mattools_assets.systems.base import Session, System
from mattools_assets.systems.prompts import VERSION, function_prompt
from mattools_assets.systems.replies import Function


async def answer(session: Session) -> Function:
    """The function of the first reply."""
    return await session.ask_function(function_prompt(session.question.text, (), session.room), "answer")


SINGLE = System("single", answer, version=VERSION, shortest=(0,), longest=(0,))
