"""Marks workers with the process that owns them, so that a later run can tell which ones nobody owns any more."""

from __future__ import annotations

import os
import socket

import psutil


def this_process() -> str:
    """A mark of this process that no later process on this or another machine shares."""
    return f"{socket.gethostname()}/{os.getpid()}/{psutil.Process().create_time():.2f}"


def is_gone(owner: str) -> bool:
    """True when the owner was a process of this machine and has ended; other machines' owners are never gone."""
    host, _, rest = owner.partition("/")
    number, _, started = rest.partition("/")
    if host != socket.gethostname() or not number.isdigit():
        return False
    try:
        return f"{psutil.Process(int(number)).create_time():.2f}" != started
    except psutil.NoSuchProcess:
        return True
