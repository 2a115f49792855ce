"""What a set of questions is like, for whoever uses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mattools_assets.qa.questions import LETTERS, Question
from mattools_assets.qa.synthesis import REPEATS, Dropped

SHOWN_GROUPS = 20


def dataset_card(title: str, questions: Sequence[Question], dropped: Iterable[Dropped]) -> str:
    """Markdown: counts by kind, object and part, the balance of the letters, a check for give-aways, what was dropped.

    The share of questions whose right option is the longest should be near a quarter; much more can be guessed from.
    """
    reasons = _alike(item.reason for item in dropped)
    letters = Counter(question.answer for question in questions)
    longest = sum(len(question.right) == max(map(len, question.options)) for question in questions)
    lines = [f"# {title}", "", f"{len(questions):,} questions on {len({q.source_id for q in questions}):,} objects."]
    lines += _table("Kind", Counter(question.kind.value for question in questions).most_common())
    lines += _table("Object", Counter(question.object_kind or "unknown" for question in questions).most_common())
    lines += _table("Part", Counter(question.module for question in questions).most_common(SHOWN_GROUPS))
    lines += _table("Right letter", [(letter, letters[letter]) for letter in LETTERS])
    if questions:
        lines += ["", f"The right option is the longest in {longest / len(questions):.0%} of the questions."]
    lines += _table("Dropped because", reasons.most_common())
    return "\n".join(lines) + "\n"


def kept_and_dropped(kept: int, reasons: Iterable[str]) -> str:
    """In a line: `kept 5, dropped 1,204 (most often: no question could be read in the reply)`."""
    counts = _alike(reasons)
    most = f" (most often: {counts.most_common(1)[0][0]})" if counts else ""
    return f"kept {kept:,}, dropped {counts.total():,}{most}"


def _alike(reasons: Iterable[str]) -> Counter[str]:
    """Reasons without the id of the question that one of them names."""
    return Counter(f"{REPEATS}before" if reason.startswith(REPEATS) else reason for reason in reasons)


def _table(name: str, counts: Iterable[tuple[str, int]]) -> list[str]:
    rows = [f"| {key} | {count:,} |" for key, count in counts]
    return ["", f"| {name} | questions |", "|---|---|", *rows] if rows else []
