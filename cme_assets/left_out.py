"""Who in `models.yaml` has no answers after a run although enabled, and what would mend that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cme_assets.protocols import PROTOCOLS
from cme_assets.schemas import DIRECT_RESPONSES
from resources.lake import Lake
from resources.llm.batched import WAITS
from resources.model_entry import ModelEntry
from resources.registry import Registry, not_asked
from resources.settings import Settings


def waiting_for_batches(lake: Lake, entries: Iterable[ModelEntry]) -> list[str]:
    """A line for each model some of whose questions are in a batch that the provider has not done. Raises LakeError."""
    lines = []
    for entry in entries:
        keys = [key for key in lake.keys(DIRECT_RESPONSES) if key["model"] == entry.name] if entry.batch else []
        errors = [row["error"] for key in keys for row in lake.read(DIRECT_RESPONSES, key, ["error"]).to_pylist()]
        if waiting := errors.count(WAITS):
            lines.append(
                f"{entry.name}: {waiting} of {len(errors)} questions wait for their batch, within a day; run again then"
            )
    return lines


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
