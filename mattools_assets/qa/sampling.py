"""A smaller set that stands for the whole: drawn from every part in proportion, the same for everyone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mattools_assets.qa.questions import Question
from resources.lake import combined_hash


def stratified_sample(questions: Sequence[Question], size: int, seed: int = 0) -> list[Question]:
    """`size` questions, from each kind and part of the library in proportion to its number, in their order.

    Shares are rounded by largest remainder. Within a part the questions with the lowest hash of seed and id are taken,
    so that a larger sample mostly contains a smaller one and no answers are wasted. All of them when `size` is larger.
    """
    if size >= len(questions):
        return list(questions)
    strata: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        strata[question.kind, question.module].append(place)
    shares = {key: size * len(places) / len(questions) for key, places in strata.items()}
    counts = {key: int(share) for key, share in shares.items()}
    by_remainder = sorted(shares, key=lambda key: (counts[key] - shares[key], key))
    for key in by_remainder[: size - sum(counts.values())]:
        counts[key] += 1

    def rank(place: int) -> str:
        return combined_hash(str(seed), questions[place].question_id)

    chosen = [place for key, places in strata.items() for place in sorted(places, key=rank)[: counts[key]]]
    return [questions[place] for place in sorted(chosen)]
