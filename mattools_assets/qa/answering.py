"""Putting a question to a model, and the letter it answers with: read as the paper does, and leniently."""

from __future__ import annotations

import re

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


# What decorates is searched from every place of a run of it. No reading needs more of a run than its two ends.
_RUN = re.compile(r"[\W_]{41,}")
_END = 20
_OPEN = r"[\s\"'*_$`(\[{]*(?:\\(?:text|boxed|mathrm|mathbf)\{){0,4}"
_CLOSE = r"(?![A-Za-z0-9]|['’][A-Za-z])"
_CAPITAL = rf"{_OPEN}([A-D]){_CLOSE}"
_LETTER = rf"{_OPEN}([A-Da-d]){_CLOSE}"
_TAG = re.compile(r"<answer>(.*?)(?:</answer>|<answer>|\Z)", re.DOTALL | re.IGNORECASE)
_IN_TAG = re.compile(
    rf"^(?:\s*(?i:the\s+)?(?i:(?:final|correct)\s+)?(?i:answer|option|choice)(?i:\s+is)?\s*:?)?{_LETTER}"
)
_STEPS = (
    # {"answer": "B"}
    re.compile(rf"[\"'](?i:(?:(?:final|correct|right)_?)?(?:answer|letter|choice|option))[\"']\s*:{_LETTER}"),
    re.compile(rf"\\boxed\s*\{{{_CAPITAL}"),
    # the final answer is B; Answer: B; the right choice would be B
    re.compile(
        r"\b(?i:(?:(?:answer|solution)|(?:correct|right|best|final)\s+(?:answer|option|choice|one|letter))"
        r"(?:\s+(?:is|would be|must be|should be|has to be|to (?:the|this) question is))?(?:\s+option|\s+choice)?)"
        rf"\s*[:=\-–—]*(?:\s*(?i:option|choice))?{_CAPITAL}"
    ),
    # I choose option B
    re.compile(rf"\b(?i:(?:choose|pick|select|go(?:ing)? with)(?:\s+(?:option|choice|letter))?){_CAPITAL}"),
    # B is right; option B is the correct one
    re.compile(
        r"(?:\b(?i:option|choice)\s+)?(?<![A-Za-z0-9'’])[\"'*_$`(\[]*([A-D])[\"'*_$`)\].:]*\s+"
        r"(?i:is|looks|seems|must be)\s+(?i:(?:the\s+)?(?:most\s+)?(?:correct|right|best|true|answer))\b"
    ),
)
# What stands out on its own: **B**, $B$, `B`, (B), [B]
_MARKED = re.compile(
    r"\*\*\s*\(?([A-D])\)?\s*[.:]?\s*\)?\*\*|\$\s*\(?([A-D])\)?\s*\$|`([A-D])`|\(([A-D])\)|\[([A-D])\]"
)
# A line that is a letter, or begins with one as options do: "B", "B.", "B) text"
_LINE = re.compile(
    r"^[\s>*_\-#(\[]*(?i:option\s+|answer\s*:?\s*)?([A-D])(?:[*_]*[).:\]][*_]*(?:\s.*)?|[\s*_.!]*)$", re.MULTILINE
)


def lenient_letter(reply: str) -> str | None:
    """The letter that a reply most plainly gives, whatever its form; None when it gives none, or several.

    Looked for in this order: answer tags, a JSON field, `\\boxed`, a sentence that says which is the answer, a letter
    set apart (`**B**`, `$B$`, `(B)`), a line that begins with a letter. In each the last one wins, because models
    correct themselves; of lines and letters set apart all must agree, unless the last line is one, because options are
    repeated that way too.
    """
    strict = strict_letter(reply)
    if strict is not None:
        return strict
    reply = _RUN.sub(lambda run: run.group()[:_END] + run.group()[-_END:], reply)
    for inside in reversed(_TAG.findall(reply)):
        found = _IN_TAG.match(inside)
        if found:
            return found.group(1).upper()
    for step in _STEPS:
        letters = step.findall(reply)
        if letters:
            return letters[-1].upper()
    marked = ["".join(groups) for groups in _MARKED.findall(reply)]
    return _agreed(marked or _LINE.findall(reply)) or _last_line(reply)


def _agreed(letters: list[str]) -> str | None:
    return letters[0] if letters and len(set(letters)) == 1 else None


def _last_line(reply: str) -> str | None:
    """The letter when the last line is nothing but one."""
    lines = [line for line in reply.splitlines() if line.strip()]
    found = re.fullmatch(r"[\s*_$`(\[\"']*([A-D])[\s*_$`)\]\"'.:!]*", lines[-1]) if lines else None
    return found.group(1) if found else None
