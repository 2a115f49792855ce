"""What the processes of one execution use, read from /proc by the warden."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
TRUSTED_SHARERS = 2  # the supervisor and the warden map the preloaded pages too


def processes() -> list[int]:
    """Process numbers of the execution: all but the namespace's first process and the warden."""
    trusted = {1, os.getpid()}
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in trusted]


def cpu_seconds(pids: list[int]) -> float:
    """Processor time of the living `pids` and of the children they have waited for."""
    ticks = 0
    for pid in pids:
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / CLOCK_TICKS


def memory_bytes(pids: list[int], preloaded: int, limit: int, identity: tuple[int, int]) -> int:
    """Anonymous and shared memory of `pids` beyond the `preloaded` bytes that each inherited from the supervisor.

    The sum of their resident pages, which counts pages shared by a fork several times. Only when that is above
    `limit` are the proportional shares read, which count them once: that is slow, because the kernel walks every page,
    and needs the processes' own `identity`, their user and group.
    """
    most = sum(max(0, _sum_kilobytes(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:")) - preloaded) for pid in pids)
    if len(pids) == 1 or most <= limit:
        return most
    with _as(identity):
        shares = sum(_sum_kilobytes(f"/proc/{pid}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) for pid in pids)
    return max(0, shares - preloaded * len(pids) // (len(pids) + TRUSTED_SHARERS))


def anonymous_bytes() -> int:
    """Anonymous and shared memory of this process."""
    return _sum_kilobytes("/proc/self/status", ("RssAnon:", "RssShmem:"))


def resident_bytes() -> int:
    """All of this process's memory, pages of mapped files included."""
    return _sum_kilobytes("/proc/self/status", ("VmRSS:",))


def disk_bytes(folders: tuple[str, ...]) -> int:
    """Bytes used in the private file systems mounted at `folders`."""
    used = 0
    for folder in folders:
        state = os.statvfs(folder)
        used += (state.f_blocks - state.f_bfree) * state.f_frsize
    return used


def memory_kills() -> int:
    """How often the kernel has ended a process of this container for want of memory; 0 where it does not say."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        for line in _read(path).splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0


def _sum_kilobytes(path: str, fields: tuple[str, ...]) -> int:
    return sum(int(line.split()[1]) for line in _read(path).splitlines() if line.startswith(fields)) * 1024


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:  # the process has ended, or the kernel does not have this file
        return ""


@contextmanager
def _as(identity: tuple[int, int]) -> Iterator[None]:
    own = os.geteuid(), os.getegid()
    if own == identity:
        yield
        return
    os.setegid(identity[1])
    os.seteuid(identity[0])
    try:
        yield
    finally:
        os.seteuid(own[0])
        os.setegid(own[1])
