"""Hostile scripts that reach for what is not theirs: the next execution, network, secrets, the truth, other processes,
the sandbox itself (groups 7 to 10, 13, 14, 16 to 19).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from resources.outcomes import Status
from resources.sandbox import launch
from resources.sandbox.execution import Execution
from resources.sandbox.pool import Sandbox

pytestmark = pytest.mark.live

ERROR, TIMEOUT, MEMORY, OK = Status.CODE_ERROR, Status.CODE_TIMEOUT, Status.CODE_MEMORY, Status.OK
Attack = Callable[..., Execution]
# What the official Python images set, and what bubblewrap and Docker add.
IMAGE_VARIABLES = {"GPG_KEY", "PYTHON_VERSION", "PYTHON_SHA256", "PIP_CERT", "HOSTNAME", "PWD"}


def script(name: str) -> str:
    """One of the hostile scripts beside this file."""
    return (Path(__file__).parent / "scripts" / f"{name}.py").read_text()


def task(**content: Any) -> dict[str, bytes]:
    """What such a script is told, as its input file."""
    return {"task.json": json.dumps(content).encode()}


def unlike_itself(secret: str) -> str:
    """A pattern that finds `secret` but not itself, so that a search of memory does not find what is searched for."""
    return f"[{secret[0]}]{secret[1:]}"


def test_7_files_can_only_be_left_where_they_vanish(attack: Attack) -> None:
    assert attack(script("leave_files"), OK).result == ["/dev/shm", "/scratch", "/scratch/.cache", "/tmp"]


def test_7_hidden_and_locked_files_vanish_too(attack: Attack) -> None:
    attack(script("leave_locked_files"), OK)


def test_7_ipc_objects_cannot_be_left(attack: Attack) -> None:
    assert attack(script("leave_ipc"), OK).result == []


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Servers of the host, TCP and UDP on all its addresses and an abstract UNIX socket, and a list of who came."""
    came: list[str] = []
    tcp = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", 0))
    abstract = f"condmat-test-{time.time_ns()}"
    local = socket.socket(socket.AF_UNIX)
    local.bind(f"\0{abstract}")
    local.listen()

    def watch(server: socket.socket, kind: str) -> None:
        while True:
            try:
                server.recv(10) if kind == "udp" else server.accept()
            except OSError:
                return
            came.append(kind)

    for server, kind in ((tcp, "tcp"), (udp, "udp"), (local, "unix")):
        threading.Thread(target=watch, args=(server, kind), daemon=True).start()
    own = next(
        (
            a.address
            for name, found in psutil.net_if_addrs().items()
            for a in found
            if name != "lo" and a.family is socket.AF_INET
        ),
        "192.0.2.1",
    )
    yield {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "abstract": abstract, "own": own}, came
    for server in (tcp, udp, local):
        server.close()


def test_8_no_network_of_any_kind_is_reached(attack: Attack, servers: tuple[dict[str, Any], list[str]]) -> None:
    addresses, came = servers
    assert attack(script("network"), OK, files=task(**addresses), seconds=60).result == []
    time.sleep(0.2)
    assert came == []


def test_8_the_servers_of_the_test_are_reached_from_outside(servers: tuple[dict[str, Any], list[str]]) -> None:
    addresses, came = servers
    socket.create_connection(("127.0.0.1", addresses["tcp"])).close()
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", addresses["udp"]))
    reach = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + {addresses['abstract']!r})"
    subprocess.run([sys.executable, "-c", reach], check=True)
    time.sleep(0.3)
    assert sorted(came) == ["tcp", "udp", "unix"]
    came.clear()


def test_9_the_environment_and_proc_hold_no_secret(attack: Attack) -> None:
    from_canary = unlike_itself(os.environ["CONDMAT_TEST_CANARY"])
    found, variables, of_first_process = attack(script("secrets"), OK, files=task(pattern=from_canary)).result
    assert found == []
    assert set(variables) - set(launch.VARIABLES) <= IMAGE_VARIABLES
    assert not {"/proc/1/environ", "/proc/1/mem", "/proc/1/maps"} & set(of_first_process)


def test_10_and_17_no_file_of_the_host_is_there(attack: Attack, host: Any, settings: Any) -> None:
    repository = Path(__file__).parents[3]
    paths = [host.secret_file, host.truth_file, host.folder, "/etc/shadow", repository, repository / ".git"]
    paths += [repository / "pyproject.toml", repository.parent / "shared", settings.data, Path.home() / ".bashrc"]
    names = ["secret.txt", "truth.json", "questions.jsonl"]
    content = task(paths=[str(path) for path in paths], names=names)
    opened, found = attack(script("host_files"), OK, files=content, seconds=60).result
    assert (opened, found) == ([], [])


def test_17_nothing_of_an_earlier_execution_is_in_memory(attack: Attack, sandbox: Sandbox) -> None:
    secret = f"truth-of-another-problem-{time.time_ns()}"
    for _ in range(3):
        earlier = f"text = open('truth.txt').read() * 3\nprint(text)\nsubmit([text, '{secret}'])"
        assert secret in sandbox.run(earlier, {"truth.txt": secret.encode() * 1000}).stdout
    pattern = unlike_itself(secret).encode()
    search = script("scan_memory")
    assert attack(search, OK, files={"pattern": pattern, "own.txt": b""}, seconds=60).result == 0
    own = {"pattern": pattern, "own.txt": secret.encode()}
    assert sandbox.run(search, own).result > 0, "the search does not find what is there"


SIGNALS = {
    "kill everyone": ("import os\nos.kill(-1, 9)", (OK, ERROR)),
    "kill everyone for ever": ("import os\nwhile True:\n  try: os.kill(-1, 9)\n  except OSError: pass", (TIMEOUT,)),
    "kill the group": ("import os\nos.killpg(0, 9)", (ERROR,)),
    "stop itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", (TIMEOUT,)),
    "close everything": ("import os\nos.closerange(0, 1000)", (OK, ERROR)),
    "close everything and stay": ("import os, time\nos.closerange(0, 1000)\ntime.sleep(1000)", (TIMEOUT,)),
}


@pytest.mark.parametrize("name", SIGNALS)
def test_13_signals_reach_nobody_else(attack: Attack, name: str) -> None:
    code, expected = SIGNALS[name]
    attack(code, *expected, wall_s=3)


def test_13_trusted_processes_cannot_be_signalled_or_traced(attack: Attack) -> None:
    assert attack(script("reach_trusted"), OK).result == []


DAEMONS = {
    "double fork": "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(1000)\n  os._exit(0)",
    "double forks that close all": "for _ in range(10):\n  if os.fork() == 0:\n    os.setsid()\n"
    "    if os.fork() == 0:\n      os.closerange(0, 100)\n      time.sleep(1000)\n    os._exit(0)",
    "ignores TERM and HUP": "signal.signal(15, signal.SIG_IGN)\nsignal.signal(1, signal.SIG_IGN)\n"
    "if os.fork() == 0: time.sleep(1000)",
    "nohup": "import subprocess\nsubprocess.Popen(['nohup', 'sleep', '1000'], start_new_session=True)",
    "daemon thread": "import threading\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
    "holds the pipes": "if os.fork() == 0: time.sleep(1000)\nprint('done')",
    "stopped": "if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)",
    "keeps respawning": script("respawn"),
}


@pytest.mark.parametrize("name", DAEMONS)
def test_14_nothing_outlives_the_script(attack: Attack, name: str) -> None:
    execution = attack("import os, signal, time\n" + DAEMONS[name], OK, wall_s=30)
    assert execution.wall_s < 10


def test_16_tampering_reaches_no_other_execution(attack: Attack) -> None:
    attack(script("tamper"), OK, ERROR, MEMORY)


EVERY_DESCRIPTOR = "for i in range(300):\n  try: os.write(i, b'\\xff' * 5000)\n  except OSError: pass"
LOWER_LIMITS = """
import resource
for kind in range(16):
    try: resource.setrlimit(kind, (0, 0))
    except (OSError, ValueError): pass
open('x', 'w').write('x')
"""
PIPES = """
kept = []
while True:
    kept.append(os.pipe())
    os.set_blocking(kept[-1][1], False)
    os.write(kept[-1][1], bytes(1 << 20))
"""
BREAK = {
    "remove the programs": "os.system('rm -rf --no-preserve-root /bin /usr /opt /scratch /')",
    "kill the first process": "for s in (9, 15, 19): os.kill(1, s)",
    "chmod the shell": "os.chmod('/bin/sh', 0)",
    "remove the work folder": "os.chdir('/')\nos.rmdir('/scratch')",
    "move the work folder": "os.rename('/scratch', '/tmp/scratch')",
    "fill the disk twice": "os.fork()\nfor i in range(99): open(f'/tmp/{i}', 'wb').write(bytes(1 << 20))",
    "write to every descriptor": EVERY_DESCRIPTOR,
    "lower its own limits": LOWER_LIMITS,
    "exhaust descriptors": "while True: os.dup(0)",
    "fill pipes": PIPES,
}


@pytest.mark.parametrize("name", BREAK)
def test_18_breaking_the_sandbox_is_the_scripts_own_failure(attack: Attack, name: str) -> None:
    attack("import os\n" + BREAK[name], OK, ERROR, TIMEOUT, MEMORY, wall_s=10, seconds=40)


def test_19_no_privilege_can_be_had(attack: Attack) -> None:
    allowed, status, users = attack(script("privileges"), OK).result
    assert allowed == {}
    capabilities = dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapAmb"), "0" * 16)
    assert status == {**capabilities, "NoNewPrivs": "1", "Seccomp": "2"}
    assert len(set(users)) == 1
    assert users[0] != 0


def test_19_set_user_id_programs_give_nothing(attack: Attack) -> None:
    gained, tried = attack(script("set_user_id"), OK, seconds=60).result
    assert gained == []
    assert tried > 0
