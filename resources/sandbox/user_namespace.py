"""A user namespace with three users, for a sandbox that is started by root.

An ordinary user needs none of this: the kernel maps that one user and no other. Root has to be kept out: the supervisor
maps to root only to reach the folders that it shows, and scripts run as a user number that nothing else on the machine
has.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

FIRST_UNUSED = 700_000_000
SCRIPT_USER = 1000


def create() -> int:
    """A descriptor of a new user namespace in which 0 is root and SCRIPT_USER a user of its own. Raises OSError."""
    outside = FIRST_UNUSED + random.SystemRandom().randrange(100_000_000)
    own = Path("/proc/self/ns/user").readlink()
    holder = subprocess.Popen(["unshare", "--user", "cat"], stdin=subprocess.PIPE)
    try:
        folder = Path("/proc") / str(holder.pid)
        deadline = time.monotonic() + 10
        while (folder / "ns/user").readlink() == own:
            if holder.poll() is not None or time.monotonic() > deadline:
                raise OSError("no user namespace can be made (unshare --user)")
            time.sleep(0.001)
        for kind in ("uid_map", "gid_map"):
            (folder / kind).write_text(f"0 0 1\n{SCRIPT_USER} {outside} 1\n")
        return os.open(folder / "ns/user", os.O_RDONLY)
    finally:
        holder.communicate()
