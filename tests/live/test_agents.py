"""Agents that play fixed replies over HTTP, with the real client, ledger and sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cme_assets.answers import read_strict
from cme_assets.protocols.agent import Task
from cme_assets.protocols.agent_surroundings import ENVIRONMENT
from cme_assets.protocols.code import run_code
from cme_assets.protocols.react import run_react
from cme_assets.protocols.transcript import Run
from cme_assets.scoring import lorentzian_score
from cme_assets.stages.judging import judge
from resources.agent_limits import AgentLimits
from resources.outcomes import Status
from resources.sandbox import environments, selection
from resources.sandbox.pool import Sandbox
from resources.settings import read_settings
from tests.cme_assets.protocols.peaks import PLACES, READ, RIGHT, SHIFTED, peak_problem
from tests.cme_assets.protocols.performing import run
from tests.servers.scripted import ScriptedServer, Turn, called, fenced, running

pytestmark = pytest.mark.live

GAMMA = 0.005
DONE = Turn("The residuals are small; that is my answer.")
LIMITS = AgentLimits(steps=5, script_seconds=5, script_mebibytes=512)


@pytest.fixture(scope="module", params=("docker", "bubblewrap"))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """An open sandbox of each backend in turn."""
    settings = replace(read_settings(), sandbox=request.param)
    problem = selection.problem_with(request.param, environments.environment(ENVIRONMENT), settings)
    if problem is not None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{request.param}: {problem}")
    with selection.open_sandbox(ENVIRONMENT, settings, AgentLimits().script, workers=2) as box:
        yield box


@dataclass
class Stage:
    """One server, one ledger and one store of executions, on which plays are performed."""

    server: ScriptedServer
    address: str
    folder: Path
    sandbox: Sandbox

    def perform(
        self,
        protocol: Callable[..., Any],
        turns: Sequence[Turn],
        limits: AgentLimits = LIMITS,
        tools: bool = False,
        problem: Any = None,
    ) -> Run:
        """The run of an agent that replies with `turns`."""
        self.server.plays = {"": turns}
        task = Task(problem or peak_problem(), limits)
        return asyncio.run(run(protocol, task, self.address, self.folder, self.sandbox, tools))

    def messages(self, request: int) -> str:
        """All text of the request of that number."""
        return "\n".join(str(message.get("content")) for message in self.server.bodies[request]["messages"])


@pytest.fixture
def stage(sandbox: Sandbox, tmp_path: Path) -> Iterator[Stage]:
    server = ScriptedServer({})
    with running(server) as address:
        yield Stage(server, address, tmp_path, sandbox)


def score(run: Run) -> float | None:
    """The score by the benchmark's own reading."""
    return judge(run.status, read_strict(run.reply, 1), PLACES[3:], GAMMA).score


def trying(tools: bool) -> Callable[[str], Turn]:
    return called if tools else fenced


both_ways = pytest.mark.parametrize("tools", [True, False], ids=["tool calls", "fenced"])


@both_ways
def test_right_at_once(stage: Stage, tools: bool) -> None:
    run = stage.perform(run_react, [trying(tools)(RIGHT), DONE], tools=tools)
    assert run.status is Status.OK
    assert score(run) == pytest.approx(1, abs=1e-3)
    assert [(step.stage, step.status) for step in run.steps] == [("examples", "ok"), ("examples", "ok"), ("test", "ok")]
    assert run.steps[0].script is not None
    assert run.steps[0].cpu_s > 0
    assert run.steps[0].peak_memory > 0
    assert run.columns()["completion_tokens"] == 20
    assert ("tools" in stage.server.bodies[0]) == tools


@both_ways
def test_wrong_then_fixed_after_residuals(stage: Stage, tools: bool) -> None:
    run = stage.perform(run_react, [trying(tools)(SHIFTED), trying(tools)(RIGHT), DONE], tools=tools)
    assert score(run) == pytest.approx(1, abs=1e-3)
    seen = stage.messages(1)
    residuals = [line for line in seen.split("\n") if line.startswith("residuals: ")]
    assert len(residuals) == 3
    for line in residuals:
        assert json.loads(line.removeprefix("residuals: ")) == pytest.approx([0.02], abs=2e-4)
    assert "found" in seen
    assert "Replies left: 4." in seen


@both_ways
def test_syntax_error_then_fixed(stage: Stage, tools: bool) -> None:
    run = stage.perform(run_react, [trying(tools)("def (:"), trying(tools)(RIGHT), DONE], tools=tools)
    assert [step.status for step in run.steps] == ["code_error", "ok", "ok", "ok"]
    assert "SyntaxError" in stage.messages(1)
    assert "not run on the other examples" in stage.messages(1)
    assert score(run) == pytest.approx(1, abs=1e-3)


def test_never_right(stage: Stage) -> None:
    run = stage.perform(run_react, [fenced(SHIFTED), DONE])
    assert run.status is Status.OK
    assert score(run) == pytest.approx(lorentzian_score([0.02], [0.0], GAMMA), rel=0.02)


@both_ways
def test_endless_steps(stage: Stage, tools: bool) -> None:
    turns = [trying(tools)(f"{SHIFTED} # {number}") for number in range(20)]
    run = stage.perform(run_react, turns, tools=tools)
    assert run.status is Status.STEP_LIMIT
    assert score(run) == 0
    assert len(stage.server.bodies) == len(run.steps) == LIMITS.steps
    assert "Replies left: 1." in stage.messages(-1)


def test_too_many_tokens_and_too_much_processor_time(stage: Stage) -> None:
    turns = [replace(fenced(f"{SHIFTED} # {number}"), tokens=60) for number in range(20)]
    run = stage.perform(run_react, turns, replace(LIMITS, tokens=100))
    assert (run.status, len(run.steps)) == (Status.STEP_LIMIT, 2)
    assert run.error == "120 tokens were written, 100 allowed"
    busy = fenced("import time\nwhile time.process_time() < 0.4: pass")
    run = stage.perform(run_react, [busy, DONE], replace(LIMITS, seconds=1))
    assert (run.status, len(run.steps)) == (Status.STEP_LIMIT, 1)
    assert run.error is not None
    assert run.error.startswith("trials took 1 s")


@pytest.mark.parametrize("protocol", [run_code, run_react])
def test_answer_without_code(stage: Stage, protocol: Callable[..., Any]) -> None:
    run = stage.perform(protocol, [Turn(f"<answer>[{PLACES[3]}]</answer>")])
    assert run.status is Status.NO_CODE
    assert score(run) == 0


@pytest.mark.parametrize("arguments", ["not json", "{}", '{"script": 3}', "[]", '{"script": ""}'])
def test_call_without_script_is_told_so(stage: Stage, arguments: str) -> None:
    run = stage.perform(run_react, [Turn(arguments=arguments), called(RIGHT), DONE], tools=True)
    assert score(run) == pytest.approx(1, abs=1e-3)
    assert "The call had no script" in stage.messages(1)


def test_silence_after_a_script_closes(stage: Stage) -> None:
    assert score(stage.perform(run_react, [called(RIGHT), Turn("")], tools=True)) == pytest.approx(1, abs=1e-3)
    assert stage.perform(run_react, [Turn(""), called(RIGHT)]).status is Status.EMPTY


FAILURES = {
    "while True: pass": Status.CODE_TIMEOUT,
    "x = bytearray(2 * 1024 ** 3)": Status.CODE_MEMORY,
    "raise SystemExit(3)": Status.CODE_ERROR,
    "import nonexistent": Status.CODE_ERROR,
    "def (:": Status.CODE_ERROR,
}


@pytest.mark.parametrize(("script", "status"), FAILURES.items(), ids=FAILURES.values())
def test_failures_of_the_only_script(stage: Stage, script: str, status: Status) -> None:
    run = stage.perform(run_code, [fenced(script)], replace(LIMITS, script_seconds=1))
    assert run.status is status
    assert score(run) == 0
    assert run.error


def test_code_that_works_on_examples_and_fails_on_the_question(stage: Stage) -> None:
    script = READ + f"assert abs(k0 - {PLACES[3]}) > 0.001\nsubmit([k0])"
    run = stage.perform(run_react, [fenced(script), DONE])
    assert (run.status, score(run)) == (Status.CODE_ERROR, 0)
    assert [step.status for step in run.steps] == ["ok", "ok", "code_error"]


@pytest.mark.parametrize(
    ("script", "status", "expected"),
    [
        (RIGHT, Status.OK, 1),
        (READ + "submit(np.array([k0]))", Status.OK, 1),
        (READ + "submit(np.float32(k0))", Status.OK, 1),
        (READ + "submit(k0)", Status.OK, 1),
        (READ + "print(f'<answer>[{k0}]</answer>')", Status.OK, 1),
        (READ + "submit([k0, k0])", Status.WRONG_SHAPE, 0),
        (READ + "submit([])", Status.WRONG_SHAPE, 0),
        (READ + "submit(float('nan'))", Status.UNPARSEABLE, 0),
        (READ + "submit(str(k0))", Status.UNPARSEABLE, 0),
        (READ + "submit({'k0': k0})", Status.UNPARSEABLE, 0),
        (READ, Status.UNPARSEABLE, 0),
    ],
)
def test_what_is_handed_over(stage: Stage, script: str, status: Status, expected: float) -> None:
    run = stage.perform(run_code, [fenced(script)])
    judged = judge(run.status, read_strict(run.reply, 1), PLACES[3:], GAMMA)
    assert judged.status is status
    assert judged.score == pytest.approx(expected, abs=1e-3)


SEARCH = """
import os, re
facts = open("map.json").read()
found = set()
def look(data, where):
    # The halves are never put together, so that the search does not find itself.
    for name, (first, second_backwards) in NEEDLES.items():
        at = data.find(first)
        while at >= 0:
            end = at + len(first)
            if data[end : end + len(second_backwards)][::-1] == second_backwards:
                found.add(f"{name} in {where}")
            at = data.find(first, end)
for root in ("/scratch", "/tmp", "/dev/shm", "/opt/sandbox", "/var/tmp", "/home", "/root"):
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                look(open(os.path.join(folder, name), "rb").read(10_000_000), os.path.join(folder, name))
            except OSError:
                pass
look(repr(dict(os.environ)).encode(), "environment")
for line in open("/proc/self/maps"):
    start, end, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\\S+)", line).groups()
    if rights.startswith("r"):
        try:
            memory = open("/proc/self/mem", "rb", 0)
            memory.seek(int(start, 16))
            look(memory.read(int(end, 16) - int(start, 16)), "memory")
        except (OSError, ValueError, OverflowError):
            pass
print(sorted(found), sorted(os.listdir(".")))
open("/tmp/left-behind", "w").write("trial")
open("left-behind", "w").write("trial")
submit([0.0])
"""


def test_no_truth_is_within_reach(stage: Stage) -> None:
    secrets = {f"answer {number}": str(place).encode() for number, place in enumerate(PLACES)}
    secrets |= {f"answer {number} as double": struct.pack("<d", place) for number, place in enumerate(PLACES)}
    secrets["stated"] = b'"temperature"'
    needles = {name: (secret[:4], secret[:3:-1]) for name, secret in secrets.items()}
    run = stage.perform(run_react, [fenced(f"NEEDLES = {needles!r}\n{SEARCH}"), DONE])
    assert run.status is Status.OK
    trial, _, test = run.steps
    for seen in (trial.output.split("submitted:")[0], test.output):
        # The control: what the question states is found, in the file and in memory; no answer is, nor anything left.
        assert "['stated in /scratch/map.json', 'stated in memory'] ['map.csv', 'map.json']" in seen


def test_failing_sandbox_is_nobodys_failure(stage: Stage) -> None:
    class Broken:
        name = stage.sandbox.backend.name

        def start(self) -> Any:
            raise OSError("no memory for a worker")

    broken = Sandbox(Broken(), AgentLimits().script, 1)
    run = replace(stage, sandbox=broken).perform(run_react, [fenced(RIGHT), DONE])
    assert run.status is Status.SANDBOX_ERROR
    assert score(run) is None
    # The next run asks nothing that was answered, and goes on.
    again = stage.perform(run_react, [fenced(RIGHT), DONE])
    assert again.status is Status.OK
    assert len(stage.server.bodies) == 2


def test_a_killed_run_goes_on_where_it_was(stage: Stage, tmp_path: Path) -> None:
    turns = [fenced(SHIFTED), fenced("import time; print(time.time_ns())"), fenced(RIGHT), DONE]
    stage.server.plays, stage.server.silent_from = {"": turns}, 2
    command = [sys.executable, str(Path(__file__)), stage.address, str(tmp_path), stage.sandbox.backend.name]
    killed = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    deadline = time.monotonic() + 60
    while len(stage.server.bodies) < 3:
        assert killed.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    stage.server.silent_from = None
    run = stage.perform(run_react, turns)
    assert score(run) == pytest.approx(1, abs=1e-3)
    numbers = [sum(m["role"] == "assistant" for m in body["messages"]) for body in stage.server.bodies]
    assert numbers == [0, 1, 2, 2, 3]
    # The second script prints the time: its output is the first run's, or the request would be another one.
    assert stage.server.bodies[2]["messages"] == stage.server.bodies[3]["messages"]
    again = stage.perform(run_react, turns)
    assert len(stage.server.bodies) == 5
    assert again == run


def test_limits_make_another_variant() -> None:
    assert AgentLimits().variant == "published"
    assert replace(AgentLimits(), steps=20, seconds=30).variant == "steps 20, seconds 30"


def main() -> None:
    """One run in a process of its own, to be killed: ADDRESS FOLDER BACKEND."""
    address, folder, backend = sys.argv[1:]
    settings = replace(read_settings(), sandbox=backend)
    with selection.open_sandbox(ENVIRONMENT, settings, AgentLimits().script, workers=1) as box:
        asyncio.run(run(run_react, Task(peak_problem(), LIMITS), address, Path(folder), box, False))


if __name__ == "__main__":
    main()
