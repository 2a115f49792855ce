"""The real graph on the fast profile, in a folder of its own, for tests that run it."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import yaml

from cme_assets.bring_up_to_date import bring_up_to_date
from cme_assets.definitions import build_defs
from resources.carrying_out import Done
from resources.registry import load_registry
from resources.settings import Settings, read_settings
from resources.workers import Workers

ENTRANTS = ("centre", "argmax", "example-mean")
IN_THIS_PROCESS = Workers(0)


def fast_settings(folder: Path, models: tuple[str, ...] = ENTRANTS) -> Settings:
    """Settings of the fast profile with the data in `folder` and a registry of the named entrants."""
    models_file = folder / "models.yaml"
    models_file.write_text(yaml.safe_dump({"models": [{"name": name, "provider": "reference"} for name in models]}))
    return read_settings(
        {"CONDMAT_DATA": str(folder / "data"), "CONDMAT_PROFILE": "fast", "CONDMAT_MODELS": str(models_file)}
    )


def bring(settings: Settings, instance: dg.DagsterInstance, workers: Workers = IN_THIS_PROCESS) -> Done:
    """Make whatever is missing or no longer good, in this process by default, so that calls can be counted."""
    entries = load_registry(settings.models_file).runnable({})
    return bring_up_to_date(settings, entries, instance, build_defs(settings, {"workers": workers}))
