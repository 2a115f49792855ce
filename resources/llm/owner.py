"""Who holds a claim: the name of a process, from which its death can be told on the same machine.

A killed run's claims are so free again at once; a claim of another machine has to lapse.
"""

from __future__ import annotations

import itertools
import os
import platform
import sys
from functools import lru_cache
from pathlib import Path

import psutil

_count = itertools.count(1)


def new_owner() -> str:
    """A name for one client in this process, unlike any other's."""
    return f"{_machine()}|{os.getpid()}|{_began(os.getpid())}|{next(_count)}"


def batch_owner(key: str) -> str:
    """The name that holds a batch's claims: no process's, so that they hold whoever dies."""
    return f"batch {key}|0|0|0"


def process_of(owner: str) -> str:
    """What the names of all owners in one process begin with."""
    return owner.rsplit("|", 1)[0] + "|"


def is_dead(owner: str) -> bool:
    """True when `owner` was a process of this machine and is no more; False when it lives or cannot be known."""
    machine, process, began, _ = owner.rsplit("|", 3)
    if machine != _machine():
        return False
    try:
        return _began(int(process)) != began
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


@lru_cache(maxsize=1)
def _machine() -> str:
    """Host name and, in containers, the namespace that process numbers belong to."""
    namespace = str(Path("/proc/self/ns/pid").readlink()) if sys.platform == "linux" else ""
    return f"{platform.node()} {namespace}".strip()


def _began(process: int) -> str:
    # A number may be given to a new process; together with its start it is unique.
    return f"{psutil.Process(process).create_time():.2f}"
