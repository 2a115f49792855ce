"""How much one execution may use, and how each limit is held. Passing a limit is the model's own failure."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

MEBIBYTE = 1024 * 1024
GIBIBYTE = 1024 * MEBIBYTE


@dataclass(frozen=True)
class Limits:
    """What one execution may use. Seconds and bytes.

    * `wall_s`: time by the clock; the warden ends everything at that moment.
    * `cpu_s`: processor time of all processes together; watched by the warden, and RLIMIT_CPU for each.
    * `memory`: anonymous and shared memory of all processes beyond the preloaded packages; RLIMIT_AS for each process
      (so that most code sees a MemoryError), the warden for their sum, and in docker the container's cgroup on top.
    * `pids`: processes and threads at a time; RLIMIT_NPROC, and in docker the container's cgroup.
    * `file_size`: largest file; RLIMIT_FSIZE.
    * `disk`: size of the private file systems (work folder, /tmp, /dev/shm), held in memory.
    * `output`: bytes kept of stdout and of stderr, first and last halves; 64 MiB in all end the execution.
    * `result`: largest encoded value that `submit` takes.
    * `outputs`: bytes of the files handed back.
    """

    wall_s: float = 180.0  # above cpu_s, so that a busy machine does not decide who fails
    cpu_s: float = 60.0
    memory: int = 2 * GIBIBYTE
    pids: int = 64
    file_size: int = 64 * MEBIBYTE
    disk: int = 128 * MEBIBYTE
    output: int = 64 * 1024
    result: int = 8 * MEBIBYTE
    outputs: int = 8 * MEBIBYTE

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if not math.isfinite(value) or value <= 0:
                raise ValueError(f"limit {name}={value!r}: use a finite number above zero")

    def within(self, ceiling: Limits) -> None:
        """Raises ValueError when a limit is above the one that the sandbox was opened with."""
        for name, value in dataclasses.asdict(self).items():
            most = getattr(ceiling, name)
            if value > most:
                raise ValueError(f"limit {name}={value}: the sandbox was opened for at most {most}")
