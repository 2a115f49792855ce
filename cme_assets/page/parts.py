"""A reply taken apart for its page: texts of bounded length, and values beside the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 24_000
"""Characters of a text that are shown; of a longer one its beginning and its end, where the answer is."""
MOST_STEPS = 60


@dataclass(frozen=True)
class Part:
    """A piece of hostile text under a heading of ours; `open` is whether it is unfolded."""

    title: str
    text: str
    open: bool = True


def reply_parts(told: Mapping[str, Any]) -> Iterator[Part]:
    """What was replied, or, of an agent, its steps and then the answer that was read."""
    steps = told.get("steps") or []
    for step in steps[:MOST_STEPS]:
        head = f"Step {step['number']}, {step['stage']}, {step['status']}"
        for name, title in (("message", "said"), ("script", "script"), ("output", "saw")):
            if (step[name] or "").strip():
                yield Part(f"{head}: {title}", shortened(step[name]), open=False)
    if len(steps) > MOST_STEPS:
        yield Part(f"{len(steps) - MOST_STEPS} more steps are in the lake", "", open=False)
    if told.get("reply"):
        yield Part("Answer" if steps else "Reply", shortened(told["reply"]))
    if told.get("error"):
        yield Part("Error", shortened(told["error"]))


def answer_lines(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Value read, truth and error, one line a value asked; more values than asked come last."""
    read, truth = list(row["values_strict"] or row["values_lenient"] or ()), list(row["truth"])
    for index in range(max(len(read), len(truth))):
        value = read[index] if index < len(read) else None
        exact = truth[index] if index < len(truth) else None
        error = "" if value is None or exact is None else f"{value - exact:+.3g}"
        yield _number(value), _number(exact), error


def shortened(text: str, longest: int = LONGEST) -> str:
    """`text`, without its middle when it is too long to be shown."""
    if len(text) <= longest:
        return text
    head, tail = longest * 2 // 3, longest // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n\n[… {left_out} characters are not shown; they are in the lake …]\n\n{text[-tail:]}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
