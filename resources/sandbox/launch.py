"""How a supervisor is started, the same in every backend: its command, its environment variables, its owner's mark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from resources.sandbox import owner
from resources.sandbox.environments import Environment

SOURCE = Path(__file__).parent
INODES = 16_384  # of each private folder
START = (
    "import sys; sys.path.insert(0, '/opt/sandbox'); "
    "from resources.sandbox.inside.supervisor import main; sys.path.pop(0); main(sys.argv[1])"
)
# All that a script sees in its environment. One thread a library: a result must not depend on how busy the machine is.
VARIABLES = {
    "PATH": "/opt/environment/bin:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/scratch",
    "TMPDIR": "/tmp",
    "USER": "script",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "2",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    "NUMBA_CACHE_DIR": "/tmp",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # no background thread, which a fork would leave behind
}


def command(environment: Environment, isolation: str, user: int, group: int) -> list[str]:
    """The command line of a supervisor; `user` and `group` are whom scripts run as."""
    config = {
        "isolation": isolation,
        "user": user,
        "group": group,
        "inodes": INODES,
        "preload": environment.preload,
        "owner": owner.this_process(),
    }
    return ["/opt/environment/bin/python", "-s", "-P", "-B", "-c", START, json.dumps(config)]


def owner_of(words: Sequence[str]) -> str | None:
    """The owner's mark in the command line of a supervisor; None for any other command."""
    return str(json.loads(words[-1])["owner"]) if START in words else None
