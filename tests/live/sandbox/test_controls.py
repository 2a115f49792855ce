"""Positive controls: in a disposable container or namespace without exactly the one protection, the code does harm.

Each harm is a small, finite one. A control edits a copy of the programs inside, or the options of the one worker that
it starts; nothing in the product can switch a protection off.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from resources.outcomes import Status
from resources.sandbox import docker_engine, environments, launch
from resources.sandbox.bubblewrap import Bubblewrap
from resources.sandbox.docker_engine import Docker
from resources.sandbox.execution import Execution
from resources.sandbox.limits import MEBIBYTE, Limits
from resources.sandbox.pool import Sandbox
from resources.settings import Settings
from tests.live.sandbox.burning import IGNORED, burning

pytestmark = pytest.mark.live

CEILING = Limits(
    wall_s=60, cpu_s=20, memory=256 * MEBIBYTE, pids=32, file_size=8 * MEBIBYTE, disk=32 * MEBIBYTE, outputs=MEBIBYTE
)
Edits = dict[str, dict[str, str]]
INSIDE = "/opt/sandbox/resources/sandbox/inside"


def same(options: Any) -> Any:
    return options


def weakened(backend: str, settings: Settings, folder: Path, edits: Edits, adjust: Callable[[Any], Any]) -> Sandbox:
    """A sandbox of one worker whose programs are edited and whose options are adjusted."""
    source = folder / "source"
    shutil.copytree(launch.SOURCE / "inside", source / "inside")
    shutil.copy(launch.SOURCE / "encoding.py", source)
    for name, changes in edits.items():
        path = source / "inside" / name
        text = path.read_text()
        for old, new in changes.items():
            assert text.count(old) == 1, f"{name} no longer has {old!r}: mend this control"
            text = text.replace(old, new)
        path.write_text(text)
    environment = environments.environment("cme")
    if backend == docker_engine.NAME:
        shown = {str(source / "inside"): {"bind": INSIDE, "mode": "ro"}}
        engine = Docker(environment, CEILING, adjust=lambda options: adjust({**options, "volumes": shown}))
        return Sandbox(engine, CEILING, workers=1)
    return Sandbox(Bubblewrap(environment, settings.data, CEILING, source, adjust), CEILING, workers=1)


@dataclass
class Control:
    """A harm, how it shows, and what has to be removed for it; `docker` and `bubblewrap` adjust a worker's options."""

    code: str
    harm: Callable[[Execution], bool]
    edits: Edits = field(default_factory=dict)
    docker: Callable[[dict[str, Any]], dict[str, Any]] = same
    bubblewrap: Callable[[list[str]], list[str]] = same
    limits: dict[str, float] = field(default_factory=dict)
    before: str = ""
    backends: tuple[str, ...] = ("docker", "bubblewrap")


def without(*words: str) -> Callable[[list[str]], list[str]]:
    """Removes consecutive `words` from a command line."""

    def adjust(arguments: list[str]) -> list[str]:
        for start in range(len(arguments)):
            if arguments[start : start + len(words)] == list(words):
                return arguments[:start] + arguments[start + len(words) :]
        raise AssertionError(f"no {words} in the arguments")

    return adjust


def option(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Replaces options of a container."""
    return lambda options: {**options, **changes}


def submits(value: Any) -> Callable[[Execution], bool]:
    """The harm shows by `value` coming back."""
    return lambda execution: execution.status is Status.OK and bool(execution.result == value)


def no_tmpfs_size(options: dict[str, Any]) -> dict[str, Any]:
    sizes = {path: text.replace(f"size={CEILING.disk},", "") for path, text in options["tmpfs"].items()}
    return {**options, "tmpfs": sizes}


NO_NEW_PRIVILEGES = "        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)\n"
NO_FILTER = {"        seccomp.install()\n": "", 'if status["Seccomp"] != "2":': "if False:"}
COUNT_PROCESSES = "import os\nsubmit(len([name for name in os.listdir('/proc') if name.isdigit()]) > 4)"
LEAVE_DAEMONS = "import os, time\nfor _ in range(5):\n  if os.fork() == 0: time.sleep(100)"

CONTROLS = {
    "1 processes": Control(
        "import os, time\nn = 0\ntry:\n  for _ in range(100):\n    if os.fork() == 0: time.sleep(100)\n    n += 1\n"
        "except OSError: pass\nsubmit(n)",
        submits(100),
        {"child.py": {'        (resource.RLIMIT_NPROC, int(limits["pids"])),\n': ""}},
        docker=option(pids_limit=None),
    ),
    "2 memory": Control(
        "x = bytearray(400 << 20)\nsubmit(len(x))",
        submits(400 << 20),
        {
            "child.py": {'        (resource.RLIMIT_AS, mapped + int(limits["memory"])),\n': ""},
            "warden.py": {'            "memory": memory,\n': ""},
        },
    ),
    "2 memory of children": Control(
        "import os, time\nchildren = []\nfor _ in range(5):\n  children.append(os.fork())\n"
        "  if not children[-1]:\n    x = bytearray(100 << 20)\n    time.sleep(2)\n    os._exit(0)\n"
        "if all(os.waitpid(child, 0)[1] == 0 for child in children): submit('held')",
        submits("held"),
        {"warden.py": {'            "memory": memory,\n': ""}},
    ),
    "3 processor time": Control(
        "import time\nwhile time.process_time() < 2.5: pass\nsubmit(1)",
        submits(1),
        {
            "child.py": {'        (resource.RLIMIT_CPU, int(limits["cpu_s"]) + 1),\n': ""},
            "warden.py": {'            "cpu_s": self.cpu_s,\n            "memory"': '            "memory"'},
        },
        limits={"cpu_s": 1},
    ),
    "4 time": Control(
        "import time\ntime.sleep(3)\nsubmit(1)",
        submits(1),
        {"warden.py": {"if now >= deadline:": "if False:", "deadline - now)": "1)"}},
        limits={"wall_s": 1},
    ),
    "5 output": Control(
        "import os\nfor _ in range(1100): os.write(1, b'x' * 65536)\nsubmit(1)",
        submits(1),
        {"warden.py": {"FLOOD = 64 * 1024 * 1024": "FLOOD = 1 << 60"}},
    ),
    "6 disk": Control(
        "for i in range(6): open(f'{i}', 'wb').write(bytes(8 << 20))\nsubmit(1)",
        submits(1),
        {"warden.py": {'            "disk": watch.disk_bytes(WRITABLE),\n': "", "size={size},": ""}},
        docker=no_tmpfs_size,
    ),
    "6 file size": Control(
        "open('x', 'wb').write(bytes(20 << 20))\nsubmit(1)",
        submits(1),
        {"child.py": {'        (resource.RLIMIT_FSIZE, int(limits["file_size"])),\n': ""}},
    ),
    "7 files of the execution before, emptied folders": Control(
        "import os\nsubmit(os.path.exists('/scratch/left'))",
        submits(True),
        {"warden.py": {'    if place.isolation == "namespaces":\n        return True\n': "    return True\n"}},
        before="open('/scratch/left', 'w').close()",
        backends=("docker",),
    ),
    "7 files of the execution before, own mounts": Control(
        "import os\nsubmit(os.path.exists('/scratch/left'))",
        submits(True),
        {
            "warden.py": {
                "    kernel.unshare(kernel.CLONE_NEWNS)\n": "    if os.path.ismount('/scratch'): return\n",
                '    kernel.mount("proc", "/proc", "proc", harmless)\n': "",
                ' and not reply["survivors"]': "",
            }
        },
        before="open('/scratch/left', 'w').close()",
        backends=("bubblewrap",),
    ),
    "7 files of the execution before, read-only root": Control(
        "import os\nsubmit(os.path.exists('/var/tmp/left'))",
        submits(True),
        docker=option(read_only=False),
        before="open('/var/tmp/left', 'w').close()",
        backends=("docker",),
    ),
    "9 variables": Control(
        "import os\nsubmit(os.environ.get('CONTROL'))",
        submits("leaked"),
        docker=lambda options: {**options, "environment": {**options["environment"], "CONTROL": "leaked"}},
        bubblewrap=lambda arguments: ["/usr/bin/env", "CONTROL=leaked", *without("--clearenv")(arguments)],
    ),
    "13 another user": Control(
        "import os\nos.kill(os.getppid(), 9)\nimport time\ntime.sleep(5)",
        lambda execution: "lost" in execution.detail,
        {"child.py": {"        become(identity)\n": ""}},
        backends=("docker",),
    ),
    "13 a process namespace of its own": Control(
        "import os\nsubmit(len([name for name in os.listdir('/proc') if name.isdigit()]) > 2)",
        submits(True),
        {"supervisor.py": {"        kernel.unshare(kernel.CLONE_NEWPID)\n": "        pass\n"}},
        backends=("bubblewrap",),
    ),
    "14 the end of all processes": Control(
        COUNT_PROCESSES,
        submits(True),
        {
            "warden.py": {
                "os.kill(-1, signal.SIGKILL)": "os.kill(pid, signal.SIGKILL)",
                ' and not reply["survivors"]': "",
                "PATIENCE = 5.0": "PATIENCE = 0.5",
            },
            "supervisor.py": {"        kernel.unshare(kernel.CLONE_NEWPID)\n": "        pass\n"},
        },
        before=LEAVE_DAEMONS,
    ),
    "19 the filter of system calls": Control(
        "import ctypes\nsubmit(ctypes.CDLL(None).unshare(0x10000000))",
        submits(0),
        {"child.py": NO_FILTER},
        docker=lambda options: {**options, "security_opt": [*options["security_opt"], "seccomp=unconfined"]},
    ),
    "3 processor time of ignored children": Control(
        burning(IGNORED),
        submits("evaded"),
        {"child.py": NO_FILTER},
        limits={"cpu_s": 2},
    ),
    # The filter cannot be installed without it, so that has to go too.
    "19 no new privileges": Control(
        (Path(__file__).parent / "scripts" / "set_user_id.py").read_text(),
        lambda execution: bool(execution.result and execution.result[0]),
        {"child.py": {NO_NEW_PRIVILEGES: "", ', ("NoNewPrivs", "1")': "", **NO_FILTER}},
        docker=option(security_opt=["seccomp=unconfined"]),
        backends=("docker",),
    ),
}


def outcome(sandbox: Sandbox, control: Control) -> Execution:
    """Runs the code of `control` after what has to come before it."""
    if control.before:
        sandbox.run(control.before)
    return sandbox.run(control.code, limits=replace(CEILING, **control.limits))


@pytest.mark.parametrize("name", CONTROLS)
def test_the_harm_needs_the_protection_removed(
    name: str, backend_name: str, sandbox: Sandbox, settings: Settings, tmp_path: Path
) -> None:
    control = CONTROLS[name]
    if backend_name not in control.backends:
        pytest.skip(f"{backend_name} has no such protection, or another one")
    assert not control.harm(outcome(sandbox, control))
    adjust: Callable[[Any], Any] = control.docker if backend_name == docker_engine.NAME else control.bubblewrap
    with weakened(backend_name, settings, tmp_path, control.edits, adjust) as weak:
        execution = outcome(weak, control)
        assert control.harm(execution), execution


def test_9_and_17_a_file_that_is_shown_is_found(
    backend_name: str, sandbox: Sandbox, settings: Settings, tmp_path: Path
) -> None:
    """The truth is out of reach because no folder of the host is shown: a worker that is shown it reads it."""
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth" / "truth.json").write_text("the truth")
    tmp_path.chmod(0o755)
    look = (
        "import os\nfor folder, folders, names in os.walk('/'):\n"
        "  if folder == '/': folders[:] = set(folders) - {'proc'}\n"
        "  if 'truth.json' in names: submit(open(folder + '/truth.json').read())"
    )
    assert not sandbox.run(look).submitted
    truth = str(tmp_path / "truth")

    def show(options: Any) -> Any:
        if backend_name == docker_engine.NAME:
            return {**options, "volumes": {**options["volumes"], truth: {"bind": "/truth", "mode": "ro"}}}
        return [options[0], "--perms", "0755", "--dir", "/truth", "--ro-bind", truth, "/truth", *options[1:]]

    with weakened(backend_name, settings, tmp_path, {}, show) as weak:
        assert weak.run(look).result == "the truth"


SERVER = "import socket, time\ns = socket.create_server(('127.0.0.1', 5555))\nwhile True: s.accept()[0].send(b'hello')"
LOOPBACK_UP = """
import fcntl, socket, struct
request = struct.pack("16sH", b"lo", 1)  # SIOCSIFFLAGS with IFF_UP
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, request + bytes(14))
"""
CALL = "import socket\nsubmit(socket.create_connection(('127.0.0.1', 5555), 5).recv(5))"


@contextmanager
def network_with_a_server(backend: str) -> Iterator[Callable[[Any], Any]]:
    """A disposable network namespace with a server in it, and how a worker joins that instead of having its own."""
    if backend == docker_engine.NAME:
        image = docker_engine.image_name(environments.environment("cme"))
        command = ["/opt/environment/bin/python", "-c", SERVER]
        victim = docker_engine.client().containers.run(
            image, command, network_mode="none", detach=True, auto_remove=True
        )
        try:
            yield lambda options: {
                **{key: value for key, value in options.items() if key != "hostname"},
                "network_mode": f"container:{victim.id}",
            }
        finally:
            docker_engine.remove(victim)
        return
    start = ["unshare", "--net", sys.executable, "-c", LOOPBACK_UP + SERVER]
    with subprocess.Popen(start) as server:
        try:
            time.sleep(1)
            enter = [shutil.which("nsenter") or "nsenter", f"--net=/proc/{server.pid}/ns/net"]
            yield lambda words: [*enter, *without("--unshare-net")(words)]
        finally:
            server.kill()


def test_8_a_worker_that_shares_a_network_reaches_its_server(
    backend_name: str, sandbox: Sandbox, settings: Settings, tmp_path: Path
) -> None:
    assert sandbox.run(CALL).status is Status.CODE_ERROR
    with network_with_a_server(backend_name) as adjust, weakened(backend_name, settings, tmp_path, {}, adjust) as weak:
        deadline = time.monotonic() + 20
        while not (execution := weak.run(CALL)).submitted and time.monotonic() < deadline:
            time.sleep(0.2)
        assert execution.result == b"hello", execution
