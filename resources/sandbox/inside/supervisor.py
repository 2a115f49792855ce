"""The first program of a worker: imports the environment's packages once, then forks a warden for each execution.

Its one argument is a JSON object: `isolation`, `user`, `group`, `inodes` (see warden.Place), `preload`, the modules to
import, and `owner`, by which a sweep finds the workers of a host process that is gone. It tells the host when it is
ready and ends when its stdin does, so that a host that is killed leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import platform
import select
import signal
import sys
import time

from resources.sandbox.inside import frames, kernel, outputs, warden


def main(config_text: str) -> None:
    """Serves executions until stdin is closed or a warden says that this worker should not go on."""
    config = json.loads(config_text)
    place = warden.Place(config["isolation"], config["user"], config["group"], config["inodes"])
    if os.getpid() != 1:
        sys.exit("the supervisor runs only as the first process of a process namespace")
    kernel.leave_session_keyring()
    start = time.monotonic()
    with contextlib.redirect_stdout(sys.stderr):
        for name in config["preload"]:
            importlib.import_module(name)
    outputs.empty("/tmp")
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    gc.collect()
    gc.freeze()
    kernel.gather_into_huge_pages()
    ready = {"ready": True, "import_s": time.monotonic() - start, "python": platform.python_version()}
    os.write(1, frames.pack(ready))
    own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY) if place.isolation == "namespaces" else None
    waiting = select.poll()
    waiting.register(0, select.POLLIN)
    while _request_waits(waiting):
        if not _served(place, own_processes):
            return


def _request_waits(waiting: select.poll) -> bool:
    return any(event & select.POLLIN for _, event in waiting.poll())


def _served(place: warden.Place, own_processes: int | None) -> bool:
    """Forks a warden and waits for it; False when it asks for the worker's end or the host has gone."""
    if own_processes is not None:
        kernel.unshare(kernel.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        os._exit(warden.serve(place))
    if own_processes is not None:
        kernel.setns(own_processes, kernel.CLONE_NEWPID)
    state = _waited(pid)
    return state is not None and os.waitstatus_to_exitcode(state) == warden.CLEAN


def _waited(pid: int) -> int | None:
    """The wait status of the warden `pid`; None when the host went away first, after ending the warden."""
    poll = select.poll()
    ended = os.pidfd_open(pid)
    try:
        poll.register(ended, select.POLLIN)
        poll.register(0, 0)  # reports nothing but a hang-up
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == ended:
                    return os.waitpid(pid, 0)[1]
                os.kill(pid, signal.SIGKILL)
                return None
    finally:
        os.close(ended)
