"""Texts that are nearly the same, found exactly and without comparing each with each."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence


def near_duplicates(texts: Sequence[str], threshold: float) -> dict[int, int]:
    """Places of texts that nearly repeat an earlier kept one, each with that one's place.

    Nearly the same means a Jaccard index of the sets of words of at least `threshold` (0 to 1). Of each word set only
    its rarest words are looked up, of which two sets that alike must share one (prefix filtering, Chaudhuri 2006).
    """
    words = [frozenset(re.findall(r"\w+", text.casefold())) for text in texts]
    frequency = Counter(word for one in words for word in one)
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    repeated: dict[int, int] = {}
    for place, own in enumerate(words):
        rare = sorted(own, key=lambda word: (frequency[word], word))
        rare = rare[: len(own) - math.ceil(threshold * len(own) - 1e-9) + 1]
        candidates = sorted({other for word in rare for other in by_word[word]})
        first = next((other for other in candidates if _jaccard(own, words[other]) >= threshold), None)
        if first is not None:
            repeated[place] = first
            continue
        for word in rare:
            by_word[word].append(place)
    return repeated


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    together = len(one | other)
    return len(one & other) / together if together else 0.0
