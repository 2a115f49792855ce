"""Hostile scripts that want more than their share: processes, memory, time, output, disk (groups 1 to 6)."""

from __future__ import annotations

import pytest

from resources.outcomes import Status
from resources.sandbox.limits import MEBIBYTE
from tests.live.sandbox.burning import IGNORED, IGNORED_BY_NUMBER, NOT_WAITED_FOR, SILENT, burning

pytestmark = pytest.mark.live

ERROR, TIMEOUT, MEMORY, OK = Status.CODE_ERROR, Status.CODE_TIMEOUT, Status.CODE_MEMORY, Status.OK

IGNORE_SIGNALS = """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
"""

CASES = {
    "1 fork bomb": ("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", (TIMEOUT,), {"wall_s": 2}),
    "1 fork bomb that ignores signals": (
        IGNORE_SIGNALS + "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
        (TIMEOUT,),
        {"wall_s": 2},
    ),
    "1 thread bomb": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        (ERROR, MEMORY),
        {},
    ),
    "2 memory by many objects": ("x = []\nwhile True: x.append(bytearray(1 << 20))", (MEMORY,), {}),
    "2 memory at once": ("x = bytearray(1 << 40)", (MEMORY,), {}),
    "2 memory by numpy": ("import numpy as np\nx = [np.ones(1 << 20) for _ in range(1000)]", (MEMORY,), {}),
    "2 memory of a bomb of digits": ("x = 9 ** 9 ** 9 ** 9", (MEMORY, TIMEOUT), {"cpu_s": 3}),
    "2 memory in children": (
        "import os, time\n"
        "for _ in range(8):\n"
        "  if os.fork() == 0:\n"
        "    x = bytearray(100 << 20)\n"
        "    time.sleep(100)\n"
        "time.sleep(100)",
        (MEMORY,),
        {},
    ),
    "2 memory in shared mappings of children": (
        "import mmap, os, time\n"
        "for _ in range(8):\n"
        "  if os.fork() == 0:\n"
        "    x = mmap.mmap(-1, 100 << 20)\n"
        "    for i in range(0, 100 << 20, 4096): x[i] = 1\n"
        "    time.sleep(100)\n"
        "time.sleep(100)",
        (MEMORY,),
        {},
    ),
    "2 memory in /dev/shm": ("f = open('/dev/shm/x', 'wb')\nwhile True: f.write(bytes(1 << 20))", (ERROR,), {}),
    "2 memory in many files of /dev/shm": (
        "import itertools\nfor i in itertools.count(): open(f'/dev/shm/{i}', 'wb').write(bytes(1 << 20))",
        (ERROR,),
        {},
    ),
    "2 memory in a memfd": (
        "import os\nf = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 20))",
        (ERROR,),
        {},
    ),
    "3 spin": ("while True: pass", (TIMEOUT,), {"cpu_s": 1}),
    "3 spin in C that ignores signals": (IGNORE_SIGNALS + "sum(range(10 ** 12))", (TIMEOUT,), {"cpu_s": 1}),
    "3 catastrophic regular expression": ("import re\nre.match('(a+)+$', 'a' * 64 + 'b')", (TIMEOUT,), {"cpu_s": 1}),
    "3 children that are ignored": (burning(before=IGNORED), (TIMEOUT,), {"cpu_s": 2}),
    "3 children that nobody waits for": (burning(before=NOT_WAITED_FOR), (TIMEOUT,), {"cpu_s": 2}),
    "3 children that are ignored in a roundabout way": (burning(before=IGNORED_BY_NUMBER), (TIMEOUT,), {"cpu_s": 2}),
    "3 children that end in silence": (burning(fork=SILENT, after="time.sleep(0.3)"), (TIMEOUT,), {"cpu_s": 2}),
    "3 children of children": (burning(fork="orphan()", after="time.sleep(0.3)"), (TIMEOUT,), {"cpu_s": 2}),
    "3 children that are waited for": (burning(), (TIMEOUT,), {"cpu_s": 2}),
    "4 sleep": ("import time\ntime.sleep(10 ** 6)", (TIMEOUT,), {"wall_s": 1}),
    "4 sleep and except": (
        "import time\nwhile True:\n  try: time.sleep(1000)\n  except BaseException: pass",
        (TIMEOUT,),
        {"wall_s": 1},
    ),
    "4 input": ("input()", (ERROR,), {}),
    "4 read stdin": ("import sys\nassert sys.stdin.read() == ''", (OK,), {}),
    "5 stdout without a newline": ("import sys\nwhile True: sys.stdout.write('x' * 65536)", (ERROR,), {}),
    "5 stderr": ("import os\nwhile True: os.write(2, b'x' * 65536)", (ERROR,), {}),
    "5 output of children": (
        "import os\nos.fork()\nos.fork()\nwhile True: os.write(1, b'y\\n' * 9999)",
        (ERROR,),
        {},
    ),
    "5 output that is no text": ("import os\nwhile True: os.write(1, b'\\xff\\x00\\x1b]0;x\\x07' * 999)", (ERROR,), {}),
    "6 disk": (
        "import itertools\nfor i in itertools.count(): open(f'/tmp/{i}', 'wb').write(bytes(1 << 20))",
        (ERROR,),
        {},
    ),
    "6 one large file": ("f = open('x', 'wb')\nwhile True: f.write(bytes(1 << 20))", (ERROR,), {}),
    "6 fallocate": ("import os\nos.posix_fallocate(os.open('x', os.O_CREAT | os.O_RDWR), 0, 1 << 40)", (ERROR,), {}),
    "6 sparse": ("open('x', 'wb').truncate(1 << 40)", (ERROR,), {}),
    "6 inodes": ("for i in range(10 ** 6): open(f'{i}', 'w').close()", (ERROR,), {}),
    "6 deep folders": ("import os\nwhile True:\n  os.mkdir('d')\n  os.chdir('d')", (ERROR,), {}),
    "6 deep folders without rights": (
        "import os\ntry:\n  while True:\n    os.mkdir('d')\n    os.chdir('d')\nexcept OSError: pass\n"
        "for _ in range(50):\n  os.chdir('..')\n  os.chmod('d', 0)\nos.chmod('/scratch', 0)",
        (OK,),
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_greedy_script_is_stopped(attack, name: str) -> None:  # type: ignore[no-untyped-def]
    code, expected, limits = CASES[name]
    attack(code, *expected, seconds=30, **limits)


def test_a_flood_keeps_no_more_than_the_limit(attack) -> None:  # type: ignore[no-untyped-def]
    execution = attack("import os\nwhile True: os.write(1, b'x' * 65536)", ERROR, output=10_000)
    assert execution.detail == "limit output"
    assert len(execution.stdout) < 10_200


def test_memory_in_children_is_stopped_near_the_limit(attack) -> None:  # type: ignore[no-untyped-def]
    code = """
import os, time
for _ in range(7):
    if os.fork() == 0: break
kept = []
while True:
    kept.append(bytearray(5 << 20))
    time.sleep(0.1)
"""
    execution = attack(code, MEMORY)
    assert 256 * MEBIBYTE < execution.peak_memory < 600 * MEBIBYTE
