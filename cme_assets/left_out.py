"""Who in `models.yaml` is not asked by a run although enabled, and what would mend that."""

from __future__ import annotations

from collections.abc import Mapping

from cme_assets.protocols import PROTOCOLS
from resources.registry import Registry, missing_keys
from resources.settings import Settings


def left_out(registry: Registry, environment: Mapping[str, str], settings: Settings) -> list[str]:
    """A line for each key that is missing, and for each entry whose table sizes are not among the settings'."""
    taken = [entry for entry in registry.entries if entry.enabled and any(each.takes(entry) for each in PROTOCOLS)]
    lines = []
    for entry in taken:
        if entry.why_off(environment):
            continue
        if entry.resolutions is not None and not set(entry.resolutions) & set(settings.resolutions):
            sizes = ",".join(map(str, entry.resolutions))
            lines.append(f"not asked: {entry.name} is for tables of {sizes} only; set RESOLUTIONS={sizes}")
    return lines + missing_keys(taken, {protocol.name for protocol in PROTOCOLS}, environment)
