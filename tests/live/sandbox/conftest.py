"""Real sandboxes for the tests, and `attack`, which runs hostile code and looks at all it must not have touched."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from resources.outcomes import Status
from resources.sandbox import bubblewrap, docker_engine, environments, launch, selection
from resources.sandbox.execution import Execution
from resources.sandbox.limits import MEBIBYTE, Limits
from resources.sandbox.pool import Sandbox
from resources.settings import Settings, read_settings

BACKENDS = (docker_engine.NAME, bubblewrap.NAME)
CANARY = "canary-4e1f0b6c-secret"
TRUTH = "canary-97d2aa31-truth"
CEILING = Limits(
    wall_s=60, cpu_s=20, memory=256 * MEBIBYTE, pids=32, file_size=8 * MEBIBYTE, disk=32 * MEBIBYTE, outputs=MEBIBYTE
)
# Above this, user numbers belong to sandboxed scripts alone.
SCRIPT_USERS = 700_000_000

PROBE = """
import builtins, glob, json, os, random, sys, threading
import numpy, numpy.testing
seen = {name: sorted(os.listdir(name)) for name in ('/scratch', '/tmp', '/dev/shm')}
seen['processes'] = len([name for name in os.listdir('/proc') if name.isdigit()])
seen['threads'] = threading.active_count()
seen['variables'] = sorted(os.environ)
seen['builtins'] = (len(dir(builtins)), isinstance(1, int), sum([1, 2]), repr(1.5))
seen['json'] = json.dumps({'a': [1.5, None]})
seen['numpy'] = float(numpy.linalg.norm(numpy.arange(5.0)))
try:
    numpy.testing.assert_allclose(1.0, 2.0)
    seen['assertion'] = 'passes'
except AssertionError:
    seen['assertion'] = 'fails'
seen['random'] = (random.random(), float(numpy.random.random()))
seen['path'] = list(sys.path)
seen['descriptors'] = sorted(int(name) for name in os.listdir('/proc/self/fd'))
submit(seen)
"""


@pytest.fixture(scope="session")
def settings() -> Settings:
    """The settings of this machine, whose data folder holds the built environments."""
    return read_settings()


def usable(name: str, environment: str, settings: Settings) -> None:
    """Skips the test where the backend is not there; in CI that is a failure."""
    problem = selection.problem_with(name, environments.environment(environment), settings)
    if problem is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name}: {problem}")
        pytest.skip(f"{name}: {problem}")


@pytest.fixture(scope="session", params=BACKENDS)
def backend_name(request: pytest.FixtureRequest, settings: Settings) -> str:
    """Each backend in turn."""
    usable(request.param, "cme", settings)
    return str(request.param)


def opened(name: str, settings: Settings, ceiling: Limits = CEILING, workers: int = 2) -> Sandbox:
    """An open sandbox of the environment cme on the backend `name`."""
    settings = read_settings({"CONDMAT_SANDBOX": name, "CONDMAT_DATA": str(settings.data)})
    return selection.open_sandbox("cme", settings, ceiling, workers)


@pytest.fixture(scope="session")
def open_backend(settings: Settings) -> Callable[..., Sandbox]:
    """Opens a sandbox by the backend's name; the caller closes it."""
    return lambda name, **options: opened(name, settings, **options)


@dataclass
class Host:
    """The machine around the sandbox, with secrets in it that no script may ever show."""

    folder: Path
    accepted: list[str] = field(default_factory=list)

    @property
    def secret_file(self) -> Path:
        return self.folder / "secret.txt"

    @property
    def truth_file(self) -> Path:
        return self.folder / "truth.json"

    def state(self) -> dict[str, Any]:
        """What no execution may change: files, mounts, network, shared memory and the scripts' processes."""
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        watched = [path for root in (Path("/etc"), self.folder) for path in root.rglob("*")]
        return {
            "files": {
                str(path): (found.st_mode, found.st_size, found.st_mtime_ns)
                for path in watched
                if (found := _state(path)) is not None
            },
            "mounts": [line for line in mounts if "docker" not in line],
            "interfaces": sorted(psutil.net_if_addrs()),
            "routes": Path("/proc/net/route").read_text(),
            "left by scripts": [str(path) for path in _left_by_scripts()],
            "System V": [line for kind in ("shm", "sem", "msg") for line in _ipc_of_scripts(kind)],
            "hostname": socket.gethostname(),
        }


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _ipc_of_scripts(kind: str) -> list[str]:
    lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
    return [line for line in lines if any(int(word) >= SCRIPT_USERS for word in line.split()[4:])]


def _left_by_scripts() -> list[Path]:
    folders = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))
    return [
        path
        for folder in folders
        for path in folder.iterdir()
        if (found := _state(path)) is not None and found.st_uid >= SCRIPT_USERS
    ]


def wait_for_no_script(seconds: float = 5) -> None:
    """Fails when a process of a sandboxed script lives on; a warden that has just answered may take a moment to end."""
    deadline = time.monotonic() + seconds
    while left := script_processes():
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def script_processes() -> list[psutil.Process]:
    """What lives below this process's supervisors now: wardens and scripts. Other users of the machine do not count."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if f"/{os.getpid()}/" in (launch.owner_of(words) or "") and words[0].endswith("python"):
            with contextlib.suppress(psutil.NoSuchProcess):
                found.update({child.pid: child for child in process.children(recursive=True)})
    return list(found.values())


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Secrets in a file, a truth file, the environment, and servers that note whoever reaches them."""
    folder = tmp_path_factory.mktemp("host")
    this = Host(folder)
    this.secret_file.write_text(CANARY)
    this.truth_file.write_text(TRUTH)
    os.environ["CONDMAT_TEST_CANARY"] = CANARY
    yield this
    del os.environ["CONDMAT_TEST_CANARY"]
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def sandbox(backend_name: str, host: Host, settings: Settings) -> Iterator[Sandbox]:
    """One open sandbox a backend, opened while the host's secrets are in place."""
    del host
    with opened(backend_name, settings) as box:
        yield box


@pytest.fixture(scope="session")
def untouched(sandbox: Sandbox) -> dict[str, Any]:
    """What an execution sees that nothing came before."""
    first = sandbox.run(PROBE)
    assert first.status is Status.OK, first
    return dict(first.result)


Attack = Callable[..., Execution]


@pytest.fixture
def attack(sandbox: Sandbox, host: Host, untouched: dict[str, Any]) -> Attack:
    """Runs hostile `code` and returns its Execution after checking what every attack must leave alone.

    That is: the status is an expected one, the time is bounded, the host is as before, neither secret is in anything
    that would be stored, and the next execution sees what the first one saw.
    """

    def run(code: str, *expected: Status, seconds: float = 20, files: Any = None, **limits: Any) -> Execution:
        before = host.state()
        start = time.monotonic()
        execution = sandbox.run(code, files, Limits(**{**vars(CEILING), **limits}))
        took = time.monotonic() - start
        assert execution.status in expected, (execution.status, execution.detail, execution.stderr[-2000:])
        assert took < seconds
        after_next = sandbox.run(PROBE)
        assert after_next.status is Status.OK, after_next
        assert after_next.result == untouched
        assert host.state() == before
        wait_for_no_script()
        assert_secret_free(execution)
        return execution

    return run


def assert_secret_free(execution: Execution, secrets: Collection[str] = (CANARY, TRUTH)) -> None:
    """Fails when a secret is anywhere in what would be stored of `execution`."""
    stored = repr(execution)
    for secret in secrets:
        assert not re.search(re.escape(secret), stored)
