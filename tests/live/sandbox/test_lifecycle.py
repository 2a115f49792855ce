"""Workers over their lives: many executions, many at once, loss, recycling, killed owners, and who is chosen."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker.errors
import psutil
import pytest

from resources.outcomes import Status
from resources.sandbox import bubblewrap, docker_engine, environments, launch, owner, pool, selection
from resources.sandbox.limits import Limits
from resources.sandbox.pool import Sandbox, SandboxUnavailable
from resources.settings import Settings, read_settings

pytestmark = pytest.mark.live

REPOSITORY = Path(__file__).parents[3]


def supervisors(of: int | None = None) -> list[psutil.Process]:
    """The living supervisors that this process (or the process `of`) owns, in containers or not."""
    mark = f"/{of or os.getpid()}/"
    found = []
    for process in psutil.process_iter(["cmdline", "ppid"]):
        words = process.info["cmdline"] or []
        if launch.START in words and words[0].endswith("python") and mark in (launch.owner_of(words) or ""):
            found.append(process)
    workers = {process.pid for process in found}
    return [process for process in found if process.info["ppid"] not in workers]  # not the wardens that they fork


def new_supervisors(before: list[psutil.Process]) -> list[psutil.Process]:
    """Those that were not there `before`: other tests keep a sandbox open."""
    return [process for process in supervisors() if process not in before]


def containers(of: int | None = None) -> list[str]:
    """The containers of this process (or of `of`), running or not; none where there is no engine."""
    if docker_engine.problem() is not None:
        return []
    with contextlib.closing(docker_engine.client()) as engine:
        found = engine.containers.list(all=True, filters={"label": docker_engine.LABEL}, ignore_removed=True)
    mark = f"/{of or os.getpid()}/"
    return sorted(container.id for container in found if mark in container.labels[docker_engine.LABEL])


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether `condition` comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def footprint() -> dict[str, Any]:
    """What executions could leave behind on this machine and in this process."""
    return {
        "containers": containers(),
        "supervisors": [process.pid for process in supervisors()],
        "children": sorted(child.pid for child in psutil.Process().children(recursive=True)),
        "mounts": len(Path("/proc/self/mounts").read_text().splitlines()),
        "descriptors": psutil.Process().num_fds(),
    }


def settled_footprint(seconds: float = 1.0) -> dict[str, Any]:
    """The footprint once it has stayed the same: a warden of the test before may still be on its way out."""
    seen = [footprint()]

    def stays() -> bool:
        time.sleep(seconds)
        seen.append(footprint())
        return seen[-1] == seen[-2]

    assert eventually(stays), seen[-2:]
    return seen[-1]


def test_a_thousand_executions_leave_nothing(
    backend_name: str, open_backend: Callable[..., Sandbox], host: Any
) -> None:
    outside = settled_footprint()
    state = host.state()
    code = (
        "import os\nopen('x', 'w').write('y' * 1000)\nif os.fork() == 0:\n  os.setsid()\n  time.sleep(1000)\nsubmit(1)"
    )
    with open_backend(backend_name, workers=2) as box, ThreadPoolExecutor(2) as threads:
        assert {execution.result for execution in threads.map(box.run, [code] * 20)} == {1}
        before, memory = footprint(), [process.memory_full_info().uss for process in supervisors()]
        assert {execution.result for execution in threads.map(box.run, [code] * 1000)} == {1}
        after = footprint()
        assert after == before
        grown = sum(process.memory_full_info().uss for process in supervisors()) - sum(memory)
        assert grown < 20 << 20
        assert box.run("import os; submit(os.listdir('.'))").result == []
    assert eventually(lambda: footprint() == outside), (footprint(), outside)
    assert host.state() == state


def test_23_fifty_at_once(backend_name: str, open_backend: Callable[..., Sandbox], host: Any) -> None:
    before, earlier, state = containers(), supervisors(), host.state()
    scripts = {
        "submit(7)": Status.OK,
        "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass": Status.CODE_TIMEOUT,
        "x = []\nwhile True: x.append(bytearray(1 << 20))": Status.CODE_MEMORY,
        "while True: print('x' * 65536)": Status.CODE_ERROR,
        "import os\nos.kill(-1, 9)\nos.abort()": Status.CODE_ERROR,
    }
    with open_backend(backend_name, workers=4) as box, ThreadPoolExecutor(50) as threads:
        limits = replace(box.ceiling, wall_s=3)
        jobs = [threads.submit(box.run, code, None, limits) for code in list(scripts) * 10]
        statuses = [job.result().status for job in jobs]
        assert len(new_supervisors(earlier)) == 4
    # A busy machine may stop a script by time before it has filled its memory or its output.
    for status, expected in zip(statuses, list(scripts.values()) * 10, strict=True):
        assert status in (expected, Status.CODE_TIMEOUT)
    assert statuses[::5] == [Status.OK] * 10
    assert eventually(lambda: containers() == before and not new_supervisors(earlier))
    assert host.state() == state


HARNESS = """
import sys, threading, time
from resources.sandbox.limits import Limits
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings
box = open_sandbox("cme", read_settings(), Limits(), workers=2)
code = "import os, time\\nos.fork()\\nif os.fork() == 0: os.setsid()\\ntime.sleep(1000)"
for _ in range(2): threading.Thread(target=box.run, args=(code,)).start()
while len(box._all) < 2: time.sleep(0.1)
time.sleep(1)
print("running", flush=True)
time.sleep(1000)
"""


def test_23_a_killed_harness_leaves_nothing(backend_name: str, settings: Settings) -> None:
    variables = {**os.environ, "CONDMAT_SANDBOX": backend_name, "CONDMAT_DATA": str(settings.data)}
    command = [sys.executable, "-c", HARNESS]
    with subprocess.Popen(command, cwd=REPOSITORY, env=variables, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        answer, running = harness.stdout.readline(), supervisors(of=harness.pid)
        harness.kill()
    assert answer == "running\n"
    assert len(running) == 2
    assert eventually(lambda: not supervisors(of=harness.pid))
    assert eventually(lambda: not containers(of=harness.pid))


def test_a_worker_that_is_killed_is_replaced(backend_name: str, open_backend: Callable[..., Sandbox]) -> None:
    earlier = supervisors()
    with open_backend(backend_name, workers=1) as box:
        (first,) = new_supervisors(earlier)
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(box.run, "import time\ntime.sleep(3)\nsubmit('done')")
            time.sleep(1)
            first.send_signal(signal.SIGKILL)
            execution = waiting.result()
        assert (execution.status, execution.result) == (Status.OK, "done")
        (second,) = new_supervisors(earlier)
        assert second.pid != first.pid


def test_workers_are_recycled(
    backend_name: str, open_backend: Callable[..., Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "RECYCLE_AFTER", 3)
    earlier = supervisors()
    with open_backend(backend_name, workers=1) as box:
        seen = []
        for _ in range(5):
            seen += [process.pid for process in new_supervisors(earlier)]
            assert box.run("submit(1)").result == 1
    assert len(set(seen)) == 2


def test_a_closed_sandbox_runs_nothing(backend_name: str, open_backend: Callable[..., Sandbox]) -> None:
    with open_backend(backend_name, workers=1) as box:
        pass
    assert box.run("submit(1)").status is Status.SANDBOX_ERROR


def test_a_sweep_ends_what_has_no_owner_and_nothing_else(
    backend_name: str, open_backend: Callable[..., Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = re.sub(r"/\d+/", "/4194305/", owner.this_process())  # above the largest process number that Linux gives
    with open_backend(backend_name, workers=1) as box:
        with monkeypatch.context() as patch:
            patch.setattr(owner, "this_process", lambda: gone)
            orphan = box.backend.start()
            orphan.wait_until_ready()
        assert selection.sweep(backend_name) >= 1
        with pytest.raises(pool.WorkerLost):
            orphan.execute(b"submit(1)", {}, box.ceiling)
        assert box.run("submit(1)").result == 1


def test_auto_takes_the_strongest_that_works(settings: Settings, backend_name: str) -> None:
    del backend_name
    automatic = read_settings({"CONDMAT_SANDBOX": "auto", "CONDMAT_DATA": str(settings.data)})
    environment = environments.environment("cme")
    working = [name for name in selection.STRONGEST_FIRST if not selection.problem_with(name, environment, automatic)]
    backend, why = selection.choose(environment, automatic, Limits())
    assert backend.name == working[0]
    assert f"{working[0]} is used" in why


def test_without_an_engine_auto_takes_bubblewrap(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    if selection.problem_with(bubblewrap.NAME, environments.environment("cme"), settings):
        pytest.skip("bubblewrap is not usable here")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    automatic = read_settings({"CONDMAT_SANDBOX": "auto", "CONDMAT_DATA": str(settings.data)})
    with selection.open_sandbox("cme", automatic, workers=1) as box:
        assert box.backend.name == "bubblewrap"
        assert box.run("submit(1)").result == 1


def test_with_neither_there_is_a_clear_refusal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable) as refusal:
        selection.open_sandbox("cme", read_settings({"CONDMAT_DATA": str(tmp_path)}))
    text = str(refusal.value)
    assert text.startswith("model-written code is not run without a sandbox")
    assert "no Docker engine answers" in text
    assert "apt-get install bubblewrap" in text
    assert "\n" not in text


def test_an_environment_that_is_not_built_says_what_to_run(backend_name: str, tmp_path: Path) -> None:
    if backend_name == docker_engine.NAME:
        with pytest.raises(docker.errors.ImageNotFound):
            docker_engine.client().images.get("condmat-evals-cme:none")
        return
    with pytest.raises(SandboxUnavailable, match="make sandbox"):
        selection.open_sandbox("cme", read_settings({"CONDMAT_SANDBOX": backend_name, "CONDMAT_DATA": str(tmp_path)}))


USER = 12_345
ORDINARY = """
import sys
sys.path.insert(0, sys.argv[1])
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings
settings = read_settings({"CONDMAT_SANDBOX": "bubblewrap", "CONDMAT_DATA": sys.argv[2]})
with open_sandbox("cme", settings, workers=1) as box:
    print(box.run("import os\\nopen('/scratch/left', 'w').close()\\nsubmit(os.getuid())").result)
    print(box.run("import os\\nsubmit(os.listdir('/scratch') + os.listdir('/tmp'))").result)
    print(box.run("open('/left', 'w')").status, box.run("open('/dev/left', 'w')").status)
    print(box.run("import os\\nfor s in (9, 19, 2): os.kill(1, s)\\nsubmit('alive')").result)
    print(box.run("open('/proc/1/environ').read()").stderr.splitlines()[-1])
    print(box.run("import ctypes\\nsubmit(ctypes.CDLL(None).unshare(0x10000000))").result)
    print([l for l in box.run("print(open('/proc/self/status').read())").stdout.splitlines() if l.startswith("CapEff")])
"""


def test_an_ordinary_user_needs_no_root(tmp_path: Path, settings: Settings) -> None:
    if os.getuid() != 0:
        pytest.skip("the whole suite runs as an ordinary user already")
    problem = selection.problem_with("bubblewrap", environments.environment("cme"), settings)
    if shutil.which("setpriv") is None or problem is not None:
        pytest.skip("needs setpriv and bubblewrap")
    user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", sys.executable, "-c", ORDINARY]
    command = [*open_to_everybody(Path(sys.executable).resolve().parents[1], tmp_path), *user]
    done = subprocess.run([*command, str(REPOSITORY), str(settings.data)], cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:6] == [str(USER), "[]", "code_error code_error", "alive", lines[4], "-1"]
    assert lines[4].startswith("PermissionError")
    assert lines[6] == "['CapEff:\\t0000000000000000']"


def open_to_everybody(python: Path, folder: Path) -> list[str]:
    """A command prefix: in mounts of its own, an installation of Python in root's home can be reached by everybody."""
    closed = [parent for parent in python.parents if not parent.stat().st_mode & 0o001]
    if not closed:
        return []
    steps = (
        'mount --bind "$1" "$2" && mount -t tmpfs -o mode=755 tmpfs "$3" && mkdir -p "$1" && mount --bind "$2" "$1"'
        ' && shift 3 && exec "$@"'
    )
    aside = folder / "python"
    aside.mkdir()
    return ["unshare", "--mount", "sh", "-c", steps, "sh", str(python), str(aside), str(closed[-1])]
