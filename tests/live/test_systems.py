"""Reflection with the real sandbox against a scripted server; and a run that is killed in the middle."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mattools_assets.systems.base import ToolAnswer
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.tool_usage.runs import kept_runs
from resources.lake import Lake
from resources.outcomes import Status
from resources.sandbox.kept import KeptRuns
from resources.sandbox.pool import SandboxUnavailable
from resources.settings import Settings, read_settings
from tests.mattools_assets.systems.performing import (
    FUNCTION,
    all_in_ledger,
    ledger_rows,
    perform,
    replied,
    small_library,
)
from tests.servers.scripted import ScriptedServer, Turn, running

pytestmark = [pytest.mark.live]

FAILING = "def cell_volume():\n    return {'volume': 1 / 0}\n"
TIMED = "def cell_volume():\n    import time\n\n    raise ValueError(f'at {time.time_ns()}')\n"
NONE = "def cell_volume():\n    return {'volume': None}\n"
EMPTY = "def cell_volume():\n    return {}\n"
WRONG = "def cell_volume():\n    return {'volume': 'a wrong answer'}\n"
CRITIQUE = "<critique>Do not divide by zero.</critique><search>bragg angle at which planes reflect</search>"
# The second round is known by what its search alone puts first.
SECOND = {
    "reflection-published-1": '<passage number="1">\ncrystals/powder.py',
    "reflection-published-4": '<passage number="1">\nbragg_angle',
}
PUBLISHED = list(SECOND)


def played(name: str, first: str, second: str) -> dict[str, list[str]]:
    """Published reflection: `first` in the first round and `second` after a search by the critic's words."""
    return {
        "Put the review below": [CRITIQUE],
        "Review the function below": ["Well: do not divide by zero, and look at Bragg angles."],
        f"<reply>\n{first}": [first],
        f"<reply>\n{second}": [second],
        SECOND[name]: [second],
        "You write Python": [first],
    }


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return small_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptRuns]:
    with opened(tmp_path_factory.mktemp("executions")) as kept:
        try:
            assert kept.run("submit(1)").status is Status.OK
        except SandboxUnavailable as error:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))
        yield kept


def opened(folder: Path) -> KeptRuns:
    return kept_runs(settings_in(folder))


def settings_in(folder: Path) -> Settings:
    return read_settings({**os.environ, "CONDMAT_DATA": str(folder)})


async def performed(
    name: str, plays: dict[str, list[str]], library: Lake, folder: Path, runs: KeptRuns
) -> tuple[ScriptedServer, ToolAnswer]:
    server = ScriptedServer({key: [Turn(text) for text in texts] for key, texts in plays.items()})
    with running(server) as address:
        answer = await perform(SYSTEMS[name], library, address, folder, runs=runs)
    fewest, most = SYSTEMS[name].requests
    assert fewest <= len(answer.asked) <= most
    assert len(server.bodies) == len(answer.asked) == len(ledger_rows(folder))
    assert all_in_ledger(answer, folder)
    return server, answer


def prompts(server: ScriptedServer, *beginnings: str) -> list[str]:
    """What was said to the model in requests whose first message begins so."""
    bodies = [body["messages"] for body in server.bodies]
    return [
        "\n".join(message["content"] for message in messages)
        for messages in bodies
        if str(messages[0]["content"]).startswith(beginnings)
    ]


@pytest.mark.parametrize("name", PUBLISHED)
async def test_published_reflection_learns_by_its_search_alone(
    name: str, library: Lake, tmp_path: Path, runs: KeptRuns
) -> None:
    first, second = replied(FAILING), replied()
    server, answer = await performed(name, played(name, first, second), library, tmp_path, runs)
    assert answer.status is Status.OK
    assert answer.function is not None
    assert answer.function.source == FUNCTION
    assert [(each.round, each.step) for each in answer.asked] == [
        *((1, "generate"), (1, "form"), (1, "critique"), (1, "critique form")),
        *((2, "generate"), (2, "form")),
    ]
    assert [each.trial.status for each in answer.rounds if each.trial] == [Status.CODE_ERROR, Status.OK]
    assert {chunk.round: chunk.query for chunk in answer.retrieved}[2] == "bragg angle at which planes reflect"
    (critic,) = prompts(server, "Review the function")
    assert "ZeroDivisionError" in critic
    for prompt in prompts(server, "You write Python"):
        assert "ZeroDivisionError" not in prompt
        assert "divide by zero" not in prompt


async def test_reflection_learns_from_error_and_critique(library: Lake, tmp_path: Path, runs: KeptRuns) -> None:
    plays = {"Review the function below": [CRITIQUE], "You write Python": [replied(FAILING), replied()]}
    server, answer = await performed("reflection", plays, library, tmp_path, runs)
    assert answer.status is Status.OK
    assert answer.function is not None
    assert answer.function.source == FUNCTION
    assert [(each.round, each.step) for each in answer.asked] == [(1, "generate"), (1, "critique"), (2, "generate")]
    first, second = prompts(server, "You write Python")
    assert "ZeroDivisionError" not in first
    for told in ("ZeroDivisionError", "Do not divide by zero.", "1 / 0", "bragg_angle"):
        assert told in second
    assert answer.rounds[0].feedback in second


@pytest.mark.parametrize("name", ["reflection", *PUBLISHED])
@pytest.mark.parametrize("source", [FAILING, NONE])
async def test_there_are_five_rounds_at_most(
    name: str, source: str, library: Lake, tmp_path: Path, runs: KeptRuns
) -> None:
    reply = replied(source)
    plays = {"Review the function below": [CRITIQUE], "Put the review below": [CRITIQUE], "": [reply]}
    _, answer = await performed(name, plays, library, tmp_path, runs)
    assert len(answer.rounds) == 5
    assert len(answer.asked) == SYSTEMS[name].requests[1]
    assert answer.status is Status.OK  # a function that fails is an answer all the same
    assert answer.function is not None
    assert answer.function.source == source


@pytest.mark.parametrize("name", ["reflection", *PUBLISHED])
async def test_a_function_that_runs_ends_the_rounds_however_wrong_it_is(
    name: str, library: Lake, tmp_path: Path, runs: KeptRuns
) -> None:
    _, answer = await performed(name, {"": [replied(WRONG)]}, library, tmp_path, runs)
    assert len(answer.asked) == SYSTEMS[name].requests[0]
    assert len(answer.rounds) == 1


@pytest.mark.parametrize(("name", "requests"), [("reflection", 5), *((name, 10) for name in PUBLISHED)])
async def test_replies_without_a_function_are_counted_as_such(
    name: str, requests: int, library: Lake, tmp_path: Path, runs: KeptRuns
) -> None:
    _, answer = await performed(name, {"": ["I am sorry."]}, library, tmp_path, runs)
    assert (answer.status, answer.function, len(answer.asked)) == (Status.NO_CODE, None, requests)


async def test_reflection_keeps_the_best_function(library: Lake, tmp_path: Path, runs: KeptRuns) -> None:
    plays = {"Review the function below": [CRITIQUE], "You write Python": [replied(NONE), replied(FAILING)]}
    _, answer = await performed("reflection", plays, library, tmp_path, runs)
    assert answer.function is not None
    assert answer.function.source == FAILING  # neither gives the property; the later one stands
    plays["You write Python"] = [replied(EMPTY), replied()]
    _, answer = await performed("reflection", plays, library, tmp_path / "other", runs)
    assert answer.function is not None
    assert answer.function.source == FUNCTION


def run_alone(library: Path, address: str, folder: Path) -> None:
    """In a process of its own, to be killed."""
    with opened(folder) as kept:
        asyncio.run(perform(SYSTEMS["reflection-published-4"], Lake(library), address, folder, runs=kept))


def test_a_killed_run_repeats_no_request_and_no_execution(library: Lake, tmp_path: Path, runs: KeptRuns) -> None:
    del runs  # says whether there is a sandbox
    name = "reflection-published-4"
    plays = played(name, replied(TIMED), replied())
    server = ScriptedServer({key: [Turn(text) for text in texts] for key, texts in plays.items()}, silent_after=3)
    with running(server) as address:
        arguments = (Path(str(library.root)), address, tmp_path)
        process = multiprocessing.get_context("spawn").Process(target=run_alone, args=arguments)
        process.start()
        deadline = time.monotonic() + 120
        while len(server.bodies) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert len(server.bodies) == 4
        server.silent_after = None
        with opened(tmp_path) as kept:
            answer = asyncio.run(perform(SYSTEMS[name], library, address, tmp_path, runs=kept))
    assert answer.status is Status.OK
    assert answer.function is not None
    assert answer.function.source == FUNCTION
    assert len(answer.asked) == 6
    # The one in flight alone was asked twice. The function tells the time: run anew, it would be criticised anew.
    assert len(server.bodies) == 6 + 1
