"""One execution, from the request on stdin to the reply on stdout: trusted, forked from the supervisor, then gone.

Because it is a process of its own, nothing of a request stays in the supervisor for the next execution to find. Two
kinds of isolation:

* `namespaces` (bubblewrap): the warden is the first process of a process namespace of its own, with its own mounts of
  /proc and of the writable folders. They vanish with it.
* `users` (docker): the container holds one execution at a time, whose user is not the warden's; afterwards the warden
  ends every process of the container but the supervisor, takes the execution's user itself and empties the folders.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from resources.sandbox.inside import child, frames, kernel, outputs, watch
from resources.sandbox.inside.streams import Result, Stream

MAX_REQUEST = 512 * 1024 * 1024
FLOOD = 64 * 1024 * 1024
WRITABLE = (child.WORK, "/tmp", "/dev/shm")
TICK = 0.02
PATIENCE = 5.0
CLEAN, RETIRE = 0, 3
FIRST_PROCESS_NAMESPACE = "pid:[4026531836]"  # the machine's own: PROC_PID_INIT_INO in linux/proc_ns.h


@dataclass(frozen=True)
class Place:
    """How this worker isolates, the user and group that scripts run as, and the inodes of a private folder."""

    isolation: str
    user: int
    group: int
    inodes: int


def serve(place: Place) -> int:
    """Answers the request that waits on descriptor 0. Returns CLEAN, or RETIRE for a worker not to be used again."""
    try:
        return _answered(place)
    except Exception as error:
        _write_all(frames.pack({"failed": f"{type(error).__name__}: {error}"}))
        return RETIRE


def _answered(place: Place) -> int:
    first = os.readlink("/proc/self/ns/pid") == FIRST_PROCESS_NAMESPACE
    if first or 1 not in (os.getpid(), os.getppid()):
        raise RuntimeError("a warden outside a process namespace would end the whole machine's processes")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    header, (code, *contents) = frames.unpack(_read_exactly, MAX_REQUEST)
    limits = header["limits"]
    files = dict(zip(header["names"], contents, strict=True))
    if place.isolation == "namespaces":
        mount_private_folders(place, int(limits["disk"]))
    else:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    reply, blobs = Execution(place, limits).run(code, files)
    left, notes = _collected(place, files, int(limits["outputs"]))
    clean = _emptied(place) and not reply["survivors"]
    reply.update(names=list(left), notes=notes, retire=not clean)
    _write_all(frames.pack(reply, [*blobs, *left.values()]))
    return CLEAN if clean else RETIRE


def mount_private_folders(place: Place, size: int) -> None:
    """New mounts, seen by this execution alone: its process list and its empty writable folders of `size` bytes."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    harmless = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("proc", "/proc", "proc", harmless)
    options = f"size={size},nr_inodes={place.inodes},mode=700,uid={place.user},gid={place.group}"
    for folder in WRITABLE:
        kernel.mount("tmpfs", folder, "tmpfs", harmless, options)


class Execution:
    """Starts the child, watches what it uses, and ends everything that it started."""

    def __init__(self, place: Place, limits: Mapping[str, Any]) -> None:
        self.place, self.limits = place, limits
        self.stdout, self.stderr = Stream(int(limits["output"])), Stream(int(limits["output"]))
        self.result = Result(int(limits["result"]))
        self.preloaded = watch.anonymous_bytes()
        self.resident = watch.resident_bytes()
        self.peak_memory = 0
        self.cpu_s = 0.0
        self.start = time.monotonic()
        self.next_sample = self.start

    def run(self, code: bytes, files: Mapping[str, bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Runs the script; returns what happened and the contents of stdout, stderr and the result."""
        kills_before = watch.memory_kills()
        pid = self._start(code, files)
        reason = self._watch(pid)
        wall_s = time.monotonic() - self.start
        state, survivors = self._end(pid)
        for stream in self._streams():
            stream.drain()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.result.last
        reply = {
            "prepared": self.result.ready,
            "reason": reason,
            "exit_code": os.waitstatus_to_exitcode(state) if state is not None else None,
            "memory_kills": watch.memory_kills() - kills_before,
            "wall_s": wall_s,
            "cpu_s": max(self.cpu_s, usage.ru_utime + usage.ru_stime),
            "peak_memory": self.peak_memory,
            "submitted": result is not None,
            "survivors": survivors,
        }
        return reply, [self.stdout.content(), self.stderr.content(), result or b""]

    def _streams(self) -> tuple[Stream, Stream, Stream]:
        return self.stdout, self.stderr, self.result

    def _start(self, code: bytes, files: Mapping[str, bytes]) -> int:
        pid = os.fork()
        if pid == 0:
            self._become_child(code, files)
        for stream in self._streams():
            os.close(stream.writer)
        return pid

    def _become_child(self, code: bytes, files: Mapping[str, bytes]) -> NoReturn:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # if memory is short, the kernel takes this process first
        writers = [os.dup(stream.writer) for stream in self._streams()]
        nothing = os.open("/dev/null", os.O_RDONLY)
        for source, target in zip((nothing, *writers), range(4), strict=True):
            os.dup2(source, target, inheritable=target < child.RESULT_DESCRIPTOR)
        os.closerange(4, 65536)
        child.run((self.place.user, self.place.group), self.limits, code, files)

    def _watch(self, pid: int) -> str:
        """Waits until the script has ended or a limit is passed; returns "exited" or the limit's name."""
        poll = select.poll()
        ended = os.pidfd_open(pid)
        poll.register(ended, select.POLLIN)
        readers = {stream.reader: stream for stream in self._streams()}
        for reader in readers:
            poll.register(reader, select.POLLIN)
        deadline = self.start + float(self.limits["wall_s"])
        while True:
            now = time.monotonic()
            if now >= deadline:
                return "wall_s"
            for descriptor, _ in poll.poll(1000 * min(TICK, deadline - now)):
                if descriptor == ended:
                    return self._exceeded() or "exited"
                if not readers[descriptor].drain():
                    poll.unregister(descriptor)
            if time.monotonic() >= self.next_sample and (passed := self._exceeded()):
                return passed

    def _exceeded(self) -> str | None:
        """The limit that is passed now, if any. Takes at most half of the time, however many processes there are."""
        start = time.monotonic()
        pids = watch.processes()
        self.cpu_s = max(self.cpu_s, watch.cpu_seconds(pids))
        identity = (self.place.user, self.place.group)
        memory = watch.memory_bytes(pids, self.preloaded, int(self.limits["memory"]), identity)
        self.peak_memory = max(self.peak_memory, memory)
        now = time.monotonic()
        self.next_sample = now + max(TICK, now - start)
        used = {
            "cpu_s": self.cpu_s,
            "memory": memory,
            "disk": watch.disk_bytes(WRITABLE),
        }
        for name, amount in used.items():
            if amount > self.limits[name]:
                return name
        return "output" if self.stdout.total + self.stderr.total > FLOOD else None

    def _end(self, pid: int) -> tuple[int | None, bool]:
        """Ends and reaps every process of the execution; the script's wait status and whether any process remained."""
        state = None
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # in one sweep, so that no fork escapes it
            try:
                reaped, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return state, bool(watch.processes())
            if reaped == pid:
                state = status
                self.peak_memory = max(self.peak_memory, usage.ru_maxrss * 1024 - self.resident)
            if reaped == 0:
                time.sleep(0.001)
        return state, True


def _collected(place: Place, known: Mapping[str, bytes], room: int) -> tuple[dict[str, bytes], list[str]]:
    """What the script left, read as the script's own user, so that its files can do no more than it could."""
    child.become((place.user, place.group))
    return outputs.collect(child.WORK, known, room)


def _emptied(place: Place) -> bool:
    if place.isolation == "namespaces":
        return True
    try:
        for folder in WRITABLE:
            outputs.empty(folder)
    except OSError:
        return False
    return True


def _read_exactly(count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = os.read(0, min(count - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def _write_all(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]
