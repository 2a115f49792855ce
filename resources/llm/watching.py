"""Looking at the lists of the providers that `watch` in `models.yaml` names: what is new there gets an entry.

What stands in a list when it is first looked at is known and gets none: only what appears afterwards is new. Each look
says what it saw in one line a watch. A list decides nothing that costs money by itself: a found model is asked under
its own ceiling, and under those of the day and the run as all others are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from resources.found_models import add_found, entry_like, registry_of
from resources.llm.ledger import Ledger
from resources.llm.listing import differences, list_models
from resources.llm.secrets import Redactor, key_of
from resources.model_entry import ModelEntry
from resources.registry import Registry, read_environment
from resources.settings import Settings
from resources.watch import Watch

KIND = "listed"
SHOWN_NAMES = 5
LONGEST_REASON = 200


def look(settings: Settings, today: date) -> list[str]:
    """Look once at every list that is watched; one line each. Raises RegistryError and LedgerError."""
    keys, lines = read_environment(settings.models_file), []
    registry = registry_of(settings)
    if not registry.watches:
        return []
    with Ledger(settings.ledger_url) as ledger:
        for watch in registry.watches:
            # Read again, because one watch may have found what another would.
            registry = registry_of(settings)
            found = _Look(settings, registry, watch, registry[watch.like], keys, ledger, today).lines()
            lines += [f"{watch.like}, {watch.pattern}: {line}" for line in found]
    return lines


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at one list."""

    settings: Settings
    registry: Registry
    watch: Watch
    template: ModelEntry
    keys: Mapping[str, str]
    ledger: Ledger
    today: date

    def lines(self) -> Iterator[str]:
        """What was seen and done."""
        template = self.template
        if template.key_env and not self.keys.get(template.key_env, "").strip():
            yield f"not looked at, because {template.key_env} is not set"
            return
        try:
            listed = asyncio.run(list_models(template, self.keys))
        except Exception as error:  # whatever the kit and the network raise; its words may hold the key
            yield f"the list cannot be had: {_reason(error, template, self.keys)}"
            return
        yield from (line for entry in self._here() if entry.enabled for line in differences(entry, listed))
        yield from self._new(sorted(filter(self.watch.matches, listed)), len(listed))

    def _here(self) -> list[ModelEntry]:
        """Entries at the same address."""
        asking = [entry for entry in self.registry.entries if entry.provider != "reference"]
        return [entry for entry in asking if entry.endpoint == self.template.endpoint]

    def _new(self, matching: list[str], listed: int) -> Iterator[str]:
        watch, key = self.watch, f"{self.template.endpoint} {self.watch.pattern}"[:500]
        note = self.ledger.recall(KIND, key)
        if note is None:
            self.ledger.note(KIND, key, matching)
            yield f"{len(matching)} of {listed} match and count as known; what appears from now on gets an entry"
            return
        known = {*note.value, *(entry.model for entry in self._here())}
        new = [model for model in matching if model not in known]
        if len(new) > watch.most_new:
            yield f"{_names(new)} are new, more than most_new: {watch.most_new}; none got an entry, narrow the pattern"
            return
        reasons = {model: self._why_unusable(model) for model in new}
        yield from (f"{m[:100]!r} is new and gets no entry: its name {why}" for m, why in reasons.items() if why)
        if usable := [model for model, why in reasons.items() if why is None]:
            add_found(self.settings.found_models, self.template, usable, watch, self.today)
            where = self.settings.found_models.name
            yield f"new: {_names(usable)}; like {watch.like}, up to ${watch.ceiling_usd:g} each, written to {where}"
        if new:
            # After the entries: killed in between, the next look finds them in the registry.
            self.ledger.note(KIND, key, sorted({*note.value, *new}))
        else:
            yield f"nothing new among {listed} models"

    def _why_unusable(self, model: str) -> str | None:
        try:
            entry = entry_like(self.template, model, self.watch, self.today)
        except ValueError as error:
            return str(error)
        if entry.name.casefold() in {other.name.casefold() for other in self.registry.entries}:
            return "is that of another entry"
        return None


def _names(models: list[str]) -> str:
    more = f" and {len(models) - SHOWN_NAMES} more" if len(models) > SHOWN_NAMES else ""
    return ", ".join(model[:100] for model in models[:SHOWN_NAMES]) + more


def _reason(error: Exception, template: ModelEntry, keys: Mapping[str, str]) -> str:
    text = Redactor(key_of(template, keys)).text(f"{type(error).__name__} {error}")
    return " ".join(text.split())[:LONGEST_REASON]
