"""What the tests of the graph share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

# Helpers and servers are shared by tests of several packages, and no package installs them.
sys.path.insert(0, str(Path(__file__).parents[2]))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance
