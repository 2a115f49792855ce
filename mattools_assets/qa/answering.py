"""Putting a question to a model, and the letter it answers with as the paper reads it."""

from __future__ import annotations

from mattools_assets.qa.questions import LETTERS, Question

PROMPT_VERSION = "1"

_PROMPT = """Answer this multiple-choice question about a Python library for materials science. Exactly one option is
right. Reply with its letter only, between the tags, like <answer>X</answer>, and write nothing else.

{question}

{options}"""


def answer_prompt(question: Question) -> str:
    """The user message that puts the question."""
    options = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, question.options, strict=True))
    return _PROMPT.format(question=question.text, options=options)


def strict_letter(reply: str) -> str | None:
    """The letter by the paper's rule: without the answer tags, nothing else may be in the reply. None otherwise."""
    rest = reply.replace("<answer>", "").replace("</answer>", "").strip()
    return rest if rest in LETTERS and len(rest) == 1 else None
