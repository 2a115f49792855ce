"""What the systems say to a model, in this project's own words. Every prompt fits into a given number of tokens.

A change here is a change of `VERSION`: answers of another one are stale.
"""

from __future__ import annotations

from collections.abc import Sequence

from mattools_assets.systems.fitting import cut, fitted
from mattools_assets.systems.replies import FORM
from resources.llm.request import Message
from resources.tokens import count_tokens

VERSION = "1"

_TASK = "You write Python for materials science with the library pymatgen. Answer the question below with one function."
_PASSAGES = """\
Passages from the library that a search found for the question. They may help or not; where they and the question
differ, for instance in paths of files, the question counts, and code that the question gives is to be used as it is."""


def user(text: str) -> list[Message]:
    """One message of the user."""
    return [{"role": "user", "content": text}]


def function_prompt(question: str, passages: Sequence[str], room: int) -> list[Message]:
    """Asks for the function, with passages or without."""
    parts = [_TASK, f"<question>\n{question.strip()}\n</question>"]
    if passages:
        left = room - sum(map(count_tokens, [*parts, _PASSAGES, FORM])) - 32
        parts += [_PASSAGES, numbered(passages, left)]
    return user("\n\n".join([*parts, FORM]))


def numbered(passages: Sequence[str], room: int) -> str:
    """The passages in numbered tags, cut to fit."""
    marks = 12 * len(passages)
    texts = fitted(passages, max(room - marks, 0))
    return "\n".join(f'<passage number="{number}">\n{text}\n</passage>' for number, text in enumerate(texts, 1))


# Agentic retrieval


def keywords_prompt(question: str) -> list[Message]:
    """Asks for the library's names that the question is about."""
    return user(
        "Which classes, functions or modules of pymatgen does the question below need? Name at most three, one a line, "
        f"and write nothing else.\n\n<question>\n{question.strip()}\n</question>"
    )


def queries_prompt(question: str, count: int) -> list[Message]:
    """Asks for queries into which the question can be taken apart."""
    return user(
        f"The question below is to be answered with the help of pymatgen's documentation. Take it apart into {count} "
        "search queries that together find what is needed. One query a line, nothing else.\n\n"
        f"<question>\n{question.strip()}\n</question>"
    )


def ranking_prompt(question: str, passages: Sequence[str], room: int) -> list[Message]:
    """Asks how much each passage helps with the question."""
    parts = [
        "Judge how much each numbered passage helps to answer the question, from 0 (not at all) to 100. Reply with "
        'JSON only, one entry a passage: {"scores": [{"number": 1, "score": 80}, {"number": 2, "score": 5}]}',
        f"<question>\n{question.strip()}\n</question>",
    ]
    return user("\n\n".join([*parts, numbered(passages, room - sum(map(count_tokens, parts)) - 16)]))


def draft_prompt(question: str, passages: Sequence[str], room: int) -> list[Message]:
    """Asks for a first answer from the passages, in words and code."""
    parts = [
        "Sketch an answer to the question from the passages alone: which classes and functions of pymatgen are used, "
        "with which arguments, and what each property is calculated from.",
        f"<question>\n{question.strip()}\n</question>",
    ]
    return user("\n\n".join([*parts, numbered(passages, room - sum(map(count_tokens, parts)) - 16)]))


def entity_prompt(text: str, room: int) -> list[Message]:
    """Asks for the one class or function of the library that a text is most about."""
    request = (
        "Which one class or function of pymatgen is the text below most about? It must exist in pymatgen. Reply with "
        'JSON only: {"type": "class" or "function", "name": "the plain name"}'
    )
    return user(f"{request}\n\n<text>\n{cut(text.strip(), room - count_tokens(request) - 16)}\n</text>")


def final_prompt(question: str, code: Sequence[str], passages: Sequence[str], room: int) -> list[Message]:
    """Asks for the function, with code of the library beside its documentation."""
    parts = [_TASK, f"<question>\n{question.strip()}\n</question>", _PASSAGES]
    left = room - sum(map(count_tokens, [*parts, FORM])) - 64
    about = numbered(passages, left // 2)
    source = numbered(code, left - count_tokens(about))
    return user("\n\n".join([*parts, f"Documentation:\n{about}", f"Code:\n{source}", FORM]))


# Reflection


def form_prompt(reply: str, room: int) -> list[Message]:
    """Asks to put a reply into the form, without changing what its code does."""
    request = (
        "Put the answer below into the form that follows. The code must be one function without example calls or "
        "prints; leave what it does as it is. An answer that has the form already is to be repeated."
    )
    left = room - count_tokens(request) - count_tokens(FORM) - 16
    return user(f"{request}\n\n{FORM}\n<reply>\n{cut(reply.strip(), left)}\n</reply>")


def critique_prompt(question: str, source: str, outcome: str, room: int) -> list[Message]:
    """Asks what is wrong with a function that was run, and what should be looked up."""
    request = (
        "Review the function below, which was written for the question and was run. It should return a dictionary in "
        "which no property is None. Say what is wrong and how to mend it, then what should be looked up in pymatgen's "
        "documentation. Reply in this form:\n<critique>\n...\n</critique>\n<search>\n...\n</search>"
    )
    parts = [request, f"<question>\n{question.strip()}\n</question>"]
    left = max(room - sum(map(count_tokens, parts)) - 48, 0)
    parts.append(f"<function>\n{cut(source, 2 * left // 3)}\n</function>")
    parts.append(f"<outcome>\n{cut(outcome, left // 3)}\n</outcome>")
    return user("\n\n".join(parts))


def critique_form_prompt(critique: str, room: int) -> list[Message]:
    """Asks to put a critique into its form."""
    request = (
        "Put the review below into this form, without changing what it says; one that has the form already is to be "
        "repeated.\n<critique>\n...\n</critique>\n<search>\n...\n</search>"
    )
    return user(f"{request}\n\n<review>\n{cut(critique.strip(), room - count_tokens(request) - 16)}\n</review>")


def mend_prompt(outcome: str, critique: str, passages: Sequence[str], room: int) -> str:
    """The message that sends a function back: what it did, what a reviewer says, and what a new search found."""
    parts = [f"Your function was run. This came of it:\n<outcome>\n{cut(outcome, room // 4)}\n</outcome>"]
    if critique:
        parts.append(f"A reviewer says:\n<critique>\n{cut(critique, room // 4)}\n</critique>")
    if passages:
        left = room - sum(map(count_tokens, parts)) - count_tokens(FORM) - 64
        parts.append(f"A new search in the library's documentation found:\n{numbered(passages, left)}")
    return "\n\n".join([*parts, f"Write the whole function anew so that no property is None or missing.\n{FORM}"])


NO_FUNCTION = f"No function could be read from your reply. {FORM}"
