"""A small real model in both loops: it need not be good, but every reply of it must have a way on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cme_assets.protocols.agent import Task
from cme_assets.protocols.agent_surroundings import ENVIRONMENT
from cme_assets.protocols.code import run_code
from cme_assets.protocols.react import run_react
from resources.agent_limits import AgentLimits
from resources.local_model import LocalModelError, serving
from resources.sandbox import selection
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.settings import read_settings
from tests.cme_assets.protocols.peaks import peak_problem
from tests.cme_assets.protocols.performing import run

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

LIMITS = AgentLimits(steps=3, script_seconds=5)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    try:
        with serving() as address:
            yield address
    except LocalModelError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        with selection.open_sandbox(ENVIRONMENT, read_settings(), LIMITS.script, workers=1) as box:
            yield box
    except SandboxUnavailable as error:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))


@pytest.mark.parametrize("protocol", [run_code, run_react])
@pytest.mark.parametrize("tools", [False, True])
def test_every_reply_has_a_way_on(
    address: str, sandbox: Sandbox, tmp_path: Path, protocol: Callable[..., Any], tools: bool
) -> None:
    outcome = asyncio.run(run(protocol, Task(peak_problem(), LIMITS), address, tmp_path, sandbox, tools, 200))
    assert outcome.status.is_scored, outcome.error
    assert 1 <= len(outcome.steps) <= LIMITS.steps + 1
