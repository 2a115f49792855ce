"""The backend for Linux machines without a container engine: bubblewrap, with or without root.

A worker has its own user, process, network, IPC, host-name and cgroup namespaces and sees the system's programs and
libraries, the Python installation and the environment, all read-only, and nothing else. Its supervisor keeps, inside
that user namespace, CAP_SYS_ADMIN, to give each execution new process and mount namespaces; started by root also
CAP_SETUID, CAP_SETGID and CAP_KILL, to run scripts as another user.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from resources.sandbox import environments, launch, owner, user_namespace
from resources.sandbox.environments import Environment
from resources.sandbox.limits import Limits
from resources.sandbox.worker import Worker

NAME = "bubblewrap"
SYSTEM_FOLDERS = ("/usr/bin", "/usr/lib64", "/usr/share/zoneinfo")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
# Not bwrap's own /dev: its terminals cost an ordinary user a second user namespace, out of which the supervisor could
# not make process namespaces.
DEVICES = ("null", "zero", "full", "random", "urandom")


class SocketChannel:
    """A socket that is a bubblewrap process's stdin and stdout, and the file that takes its stderr."""

    def __init__(self, process: subprocess.Popen[bytes], own_end: socket.socket, errors: Any) -> None:
        self.process, self.socket, self.error_file = process, own_end, errors

    def send(self, data: bytes, deadline: float) -> None:
        self.socket.settimeout(max(0.001, deadline - time.monotonic()))
        self.socket.sendall(data)

    def receive(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < count:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            part = self.socket.recv(min(count - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def errors(self) -> str:
        self.error_file.seek(0, os.SEEK_END)
        self.error_file.seek(max(0, self.error_file.tell() - 2000))
        return str(self.error_file.read().decode("utf-8", "replace")).strip()

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()  # the first process of its namespace: the kernel ends all others with it
        self.process.wait()
        self.socket.close()


@dataclass
class Bubblewrap:
    """Starts workers for one environment. `adjust` may change the arguments; only the tests' controls use it."""

    environment: Environment
    data: Path
    ceiling: Limits
    source: Path = launch.SOURCE
    adjust: Callable[[list[str]], list[str]] = list

    name = NAME

    def start(self) -> Worker:
        """A new worker, not yet ready. Raises EnvironmentMissing or OSError."""
        namespace = user_namespace.create() if os.getuid() == 0 else None
        own_end, worker_end = socket.socketpair()
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        try:
            process = subprocess.Popen(
                self.adjust(self.arguments(namespace)),
                stdin=worker_end.fileno(),
                stdout=worker_end.fileno(),
                stderr=errors,
                pass_fds=() if namespace is None else (namespace,),
                env={},
                cwd="/",
                start_new_session=True,
            )
        finally:
            worker_end.close()
            if namespace is not None:
                os.close(namespace)
        return Worker(SocketChannel(process, own_end, errors))

    def arguments(self, namespace: int | None) -> list[str]:
        """The command line of a worker; `namespace` is the user namespace's descriptor when root starts it."""
        place = environments.installed(self.environment, self.data)
        bwrap = shutil.which("bwrap") or "bwrap"
        return [
            bwrap,
            *_namespaces(namespace),
            *_file_system(place, self.source),
            "--clearenv",
            *(word for pair in launch.VARIABLES.items() for word in ("--setenv", *pair)),
            *("--chdir", "/", "--as-pid-1"),
            *launch.command(self.environment, "namespaces", *_script_identity(namespace)),
        ]


def _script_identity(namespace: int | None) -> tuple[int, int]:
    """User and group of scripts inside: those of whoever starts the sandbox, unless that is root."""
    if namespace is None:
        return os.getuid(), os.getgid()
    return user_namespace.SCRIPT_USER, user_namespace.SCRIPT_USER


def _namespaces(namespace: int | None) -> list[str]:
    user = ["--unshare-user"] if namespace is None else ["--userns", str(namespace)]
    kept = ["CAP_SYS_ADMIN"] if namespace is None else ["CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_KILL"]
    others = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    return [*user, *others, "--hostname", "sandbox", *(word for cap in kept for word in ("--cap-add", cap))]


def _file_system(place: Path, source: Path) -> list[str]:
    base = _python_installation(place)
    inside = "/opt/sandbox/resources/sandbox"
    shown = {
        **{path: path for path in (*SYSTEM_FOLDERS, *_libraries(base), *SYSTEM_FILES)},
        str(place): "/opt/environment",
        str(source / "inside"): f"{inside}/inside",
        str(source / "encoding.py"): f"{inside}/encoding.py",
    }
    own_python = base != Path("/usr")
    if own_python:
        shown[str(base)] = str(base)
    words = _parents([*shown.values(), "/dev/shm/-", "/scratch/-"])
    for path, target in shown.items():
        words += ["--ro-bind-try", path, target]
    if own_python:  # its owner may have added packages, which are none of the script's business
        words += ["--tmpfs", str(base / "lib" / f"python{environments.PYTHON}" / "site-packages")]
    for link in (Path("/") / name for name in ("bin", "sbin", "lib", "lib32", "lib64")):
        if link.is_symlink():
            words += ["--symlink", str(link.readlink()), str(link)]
        elif link.is_dir():
            words += ["--ro-bind", str(link), str(link)]
    for device in DEVICES:
        words += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    words += ["--symlink", "/proc/self/fd", "/dev/fd", "--proc", "/proc", "--tmpfs", "/tmp"]
    return [*words, "--remount-ro", "/"]


def _libraries(base: Path) -> list[str]:
    """The system's shared libraries, without all else that /usr/lib holds where the distribution keeps them apart."""
    apart = Path(f"/usr/lib/{platform.machine()}-linux-gnu")
    if not apart.exists():
        return ["/usr/lib"]
    system_python = [f"/usr/lib/python{environments.PYTHON}", "/usr/lib/python3"] if base == Path("/usr") else []
    return [str(apart), *system_python]


def _parents(paths: Sequence[str]) -> list[str]:
    """Makes the folders above `paths` passable for everybody; bubblewrap would make them for its own user only."""
    folders = {parent for path in paths for parent in Path(path).parents if parent != Path("/")}
    return [word for folder in sorted(folders) for word in ("--perms", "0755", "--dir", str(folder))]


def _python_installation(place: Path) -> Path:
    """Where the interpreter of the virtual environment `place` lives."""
    lines = (place / "pyvenv.cfg").read_text().splitlines()
    settings = dict(line.split(" = ", 1) for line in lines if " = " in line)
    return Path(settings["home"]).parent


def problem() -> str | None:
    """Why bubblewrap cannot be used here, in one line; None when it can."""
    if sysconfig.get_platform().split("-")[0] != "linux":
        return "bubblewrap needs Linux"
    if shutil.which("bwrap") is None:
        return "bwrap is not installed (Debian: apt-get install bubblewrap)"
    trial = ["bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib"]
    trial += ["--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "/usr/bin/true"]
    done = subprocess.run(trial, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"bwrap cannot make namespaces here: {done.stderr.strip()[-200:]}"
    return None


def sweep() -> int:
    """Ends the workers whose owner is gone; they end by themselves, so this finds one only when that has failed."""
    found = 0
    for process in psutil.process_iter(["cmdline"]):
        words: Sequence[str] = process.info["cmdline"] or ()
        mark = launch.owner_of(words)
        if mark is not None and owner.is_gone(mark):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
            found += 1
    return found
