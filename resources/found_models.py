"""Models that a watched provider has newly listed: their entries, in a file of the data folder beside `models.yaml`'s.

The file has the form of `models.yaml` and is the reader's to change; an entry that is moved to `models.yaml` is that
file's from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from resources.model_entry import ModelEntry
from resources.registry import Registry, load_registry
from resources.settings import Settings
from resources.watch import Watch

HEADER = """\
# Models that appeared in the lists which `watch` in models.yaml names. Each was given an entry like an existing one;
# prices are assumptions. Change them here, switch one off by `enabled: false`, or move it to models.yaml.
models:
"""
_LIKE_THE_TEMPLATE = (
    "provider",
    "base_url",
    "key_env",
    "batch",
    "parameters",
    "max_concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "protocols",
    "resolutions",
    "systems",
    "repeats",
    "free",
)
# Of the capabilities, what the endpoint decides; the rest differs between models and is found out.
_CAPABILITIES = ("cache", "batch")


def registry_of(settings: Settings) -> Registry:
    """`models.yaml` with the models that were found. Raises RegistryError."""
    own = load_registry(settings.models_file)
    if not settings.found_models.exists():
        return own
    taken = {entry.name.casefold() for entry in own.entries}
    found = load_registry(settings.found_models).entries
    return Registry(own.path, (*own.entries, *(e for e in found if e.name.casefold() not in taken)), own.watches)


def entry_like(template: ModelEntry, model: str, watch: Watch, today: date) -> ModelEntry:
    """An entry for the model that the provider calls `model`. Raises ValueError where its name can be none."""
    return _entry(_fields(template, model, watch, today))


def add_found(path: Path, template: ModelEntry, models: Sequence[str], watch: Watch, today: date) -> None:
    """Append entries to the file at `path`, leaving what stands there as it is."""
    entries = [_fields(template, model, watch, today) for model in models]
    text = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=200)
    before = path.read_text(encoding="utf-8") if path.exists() else HEADER
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    indented = "".join(f"  {line}\n" for line in text.splitlines())
    beside.write_text(before.rstrip("\n") + "\n" + indented, encoding="utf-8")
    beside.replace(path)


def _fields(template: ModelEntry, model: str, watch: Watch, today: date) -> dict[str, Any]:
    whole = template.model_dump(mode="json", exclude_unset=True)
    fields = {"name": model, "model": model} | {name: whole[name] for name in _LIKE_THE_TEMPLATE if name in whole}
    stated = whole.get("capabilities", {})
    if capabilities := {name: stated[name] for name in _CAPABILITIES if name in stated}:
        fields["capabilities"] = capabilities
    if watch.assumed_prices is not None:
        fields["prices"] = [{"since": today.isoformat(), **watch.assumed_prices.model_dump()}]
        fields.pop("free", None)
    return fields | {"probe": True, "ceiling_usd": watch.ceiling_usd}


def _entry(fields: dict[str, Any]) -> ModelEntry:
    try:
        return ModelEntry.model_validate(fields)
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
