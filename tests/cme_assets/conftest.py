"""What the tests of the graph share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from resources.settings import Settings
from tests.fast_graph import bring, fast_settings


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A finished run of the fast profile with three quick entrants, to be read or copied, never changed."""
    settings = fast_settings(tmp_path_factory.mktemp("made-once"))
    with dg.DagsterInstance.ephemeral() as instance:
        bring(settings, instance)
    return settings


@pytest.fixture
def made(made_once: Settings, tmp_path: Path) -> Settings:
    """A copy of that run for one test."""
    settings = fast_settings(tmp_path)
    shutil.copytree(made_once.lake, settings.lake)
    return settings
