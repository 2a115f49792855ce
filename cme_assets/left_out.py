"""Who in `models.yaml` has no answers after a run although enabled, and what would mend that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cme_assets.protocols import PROTOCOLS
from cme_assets.schemas import DIRECT_RESPONSES
from resources.lake import Lake
from resources.llm.unanswered import failed_at_provider, stopped_by_budget, waiting_for_batches
from resources.model_entry import ModelEntry
from resources.registry import Registry, not_asked
from resources.settings import Settings


def unanswered(lake: Lake, entries: Sequence[ModelEntry], settings: Settings) -> list[str]:
    """A line for each model that waits for a batch, that its provider failed or a budget stopped. Raises LakeError."""
    replies = [protocol.responses.table for protocol in PROTOCOLS]
    return [
        *waiting_for_batches(lake, [DIRECT_RESPONSES], entries),
        *failed_at_provider(lake, replies, entries),
        *stopped_by_budget(lake, replies, entries, settings),
    ]


def left_out(registry: Registry, environment: Mapping[str, str], settings: Settings) -> list[str]:
    """A line for each key that is missing, for spending that nobody has allowed, and for each entry whose table sizes
    are not among the settings'."""
    taken = [entry for entry in registry.entries if entry.enabled and any(each.takes(entry) for each in PROTOCOLS)]
    lines = []
    for entry in taken:
        if entry.why_off(environment):
            continue
        if entry.resolutions is not None and not set(entry.resolutions) & set(settings.resolutions):
            sizes = ",".join(map(str, entry.resolutions))
            lines.append(f"not asked: {entry.name} is for tables of {sizes} only; set RESOLUTIONS={sizes}")
    return lines + not_asked(taken, {protocol.name for protocol in PROTOCOLS}, environment)
