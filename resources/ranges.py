"""Runs over ranges of partitions: the tags that name one, and how a choice becomes the fewest of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

# Dagster's names of the tags by which a run covers a range of partitions.
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


def contiguous(order: Sequence[str], wanted: Iterable[str]) -> list[tuple[str, str]]:
    """First and last of every unbroken stretch of `wanted` in `order`."""
    chosen = set(wanted)
    stretches = (list(items) for is_chosen, items in groupby(order, chosen.__contains__) if is_chosen)
    return [(items[0], items[-1]) for items in stretches]
