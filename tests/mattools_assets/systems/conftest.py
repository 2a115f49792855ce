"""What the tests of the systems share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

# The servers are shared by tests of several packages, and no package installs them.
sys.path.insert(0, str(Path(__file__).parents[3]))

from resources.lake import Lake
from tests.mattools_assets.systems.performing import small_library
from tests.servers.scripted import ScriptedServer, Turn, running

Serve = Callable[[dict[str, list[str]]], tuple[ScriptedServer, str]]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return small_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server that plays texts: the first whose key stands in a prompt."""
    with ExitStack() as stack:

        def start(plays: dict[str, list[str]]) -> tuple[ScriptedServer, str]:
            server = ScriptedServer({key: [Turn(text) for text in texts] for key, texts in plays.items()})
            return server, stack.enter_context(running(server))

        yield start
