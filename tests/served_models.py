"""Settings whose prompts are made and whose models are behind a server of the test."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from cme_assets.bring_up_to_date import bring_up_to_date
from cme_assets.definitions import build_defs
from resources.carrying_out import Done
from resources.found_models import registry_of
from resources.registry import read_environment
from resources.settings import Settings, read_settings
from tests.fast_graph import IN_THIS_PROCESS


def prompts_only(made: Settings, folder: Path) -> Settings:
    """The prompts of `made` in `folder`; nobody has been asked, and any sum may be spent."""
    (folder / ".env").write_text("CONDMAT_BUDGET_DAY_USD=none\n")
    settings = read_settings(
        {
            "CONDMAT_DATA": str(folder / "data"),
            "CONDMAT_PROFILE": "fast",
            "CONDMAT_BUDGET_DAY_USD": "none",
            "CONDMAT_MODELS": str(folder / "models.yaml"),
        }
    )
    for table in ("problems", "spectra", "noisy_spectra", "prompts"):
        shutil.copytree(made.lake / table, settings.lake / table)
    return settings


def write_models(settings: Settings, address: str, *names: str, **more: Any) -> None:
    """A registry of models at `address`; `more` is the same in every entry."""
    common = {"provider": "openai_compatible", "base_url": address, "max_concurrency": 4, **more}
    entries = [{"name": name, "model": name, **common} for name in names]
    settings.models_file.write_text(yaml.safe_dump({"models": entries}))


def bring_served(settings: Settings, instance: dg.DagsterInstance) -> Done:
    """Ask those whose key is there, in this process."""
    entries = registry_of(settings).runnable(read_environment(settings.models_file))
    return bring_up_to_date(settings, entries, instance, build_defs(settings, {"workers": IN_THIS_PROCESS}))
