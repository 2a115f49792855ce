"""Hostile scripts that lie: with files, with results, with how they end (groups 11, 12, 15, 20 to 22)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resources.outcomes import Status
from resources.sandbox.decoding import OpaqueObject
from resources.sandbox.execution import Execution
from resources.sandbox.pool import Sandbox

pytestmark = pytest.mark.live

ERROR, TIMEOUT, MEMORY, OK = Status.CODE_ERROR, Status.CODE_TIMEOUT, Status.CODE_MEMORY, Status.OK
Attack = Callable[..., Execution]


def script(name: str) -> str:
    """One of the hostile scripts beside this file."""
    return (Path(__file__).parent / "scripts" / f"{name}.py").read_text()


def test_11_only_plain_files_come_back(attack: Attack) -> None:
    execution = attack(script("odd_files"), OK)
    assert execution.files == {"plain.txt": b"plain", "sub/plain.txt": b"plain"}
    kinds = {note.split(":")[0] for note in execution.notes}
    assert {"not a regular file", "hard link", "odd name", "too large", "nested too deeply"} <= kinds
    assert any(kind.startswith("unreadable") for kind in kinds)


def test_11_more_files_than_are_wanted_are_left_out(attack: Attack) -> None:
    execution = attack("for i in range(1000): open(f'{i:04}', 'w').write('x')", OK)
    assert len(execution.files) == 64
    assert execution.notes == ["more than 64 files: 1"]


def test_11_a_file_that_is_swapped_for_a_link_at_the_end_is_left_out(attack: Attack) -> None:
    code = "import os\nopen('map.csv', 'w').write('x')\nos.remove('map.csv')\nos.symlink('/etc/passwd', 'map.csv')"
    assert attack(code, OK, files={"map.csv": b"1"}).files == {}


def forged(*messages: bytes) -> str:
    """A script that writes `messages` to the descriptor of `submit` itself."""
    return f"import os, struct\nfor m in {messages!r}:\n  os.write(3, struct.pack('>Q', len(m)) + m)"


FORGERIES = {
    "a pickle": forged(b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94."),
    "bare NaN": forged(b"[NaN]"),
    "a million digits": "n = '9' * 1000000\n" + forged(b"").replace("(b'',)", "(n.encode(),)"),
    "a great depth": "n = '[' * 100000 + ']' * 100000\n" + forged(b"").replace("(b'',)", "(n.encode(),)"),
    "duplicate keys": forged(b'{"t":"int","t":"int","v":"1"}'),
    "an unknown tag": forged(b'{"t":"pickle","v":"gASV"}'),
    "an object array": forged(b'{"t":"array","dtype":"|O8","shape":[1],"v":"AAAAAAAAAAA="}'),
    "no UTF-8": forged(b"\xff\xfe"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_12_a_forged_result_is_the_scripts_own_failure(attack: Attack, name: str) -> None:
    execution = attack(FORGERIES[name], ERROR)
    assert (execution.submitted, execution.result) == (False, None)
    assert "result" in execution.detail


TRUNCATED = {
    "half a message": "import os, struct\nos.write(3, struct.pack('>Q', 100) + b'1')",
    "an endless message": "import os\nos.write(3, b'\\xff' * 8)\nfor _ in range(999): os.write(3, bytes(99999))",
    "one above the limit": "import os\nos.write(3, bytes([0] * 4 + [1] + [0] * 3))\n"
    "for _ in range(99): os.write(3, bytes(9999))",
}


@pytest.mark.parametrize("name", TRUNCATED)
def test_12_a_message_that_does_not_end_is_no_result(attack: Attack, name: str) -> None:
    execution = attack(TRUNCATED[name], OK)
    assert not execution.submitted


@pytest.mark.parametrize("value", ["'x' * (1 << 30)", "list(range(10 ** 9))", "np.zeros(10 ** 8)", "'x' * (9 << 20)"])
def test_12_a_result_that_is_too_large_is_an_error_or_too_much_memory(attack: Attack, value: str) -> None:
    execution = attack(f"import numpy as np\nsubmit({value})", ERROR, MEMORY)
    assert not execution.submitted


def test_12_objects_that_lie_come_as_what_they_are(attack: Attack) -> None:
    result = attack(script("liars"), OK).result
    assert isinstance(result["equal to all"], OpaqueObject)
    assert result["equal to all"] != 1.0
    assert result["float that lies"] == 0.5
    assert result["list that lies"] == [1, 2]
    assert isinstance(result["repr that fails"], OpaqueObject)
    assert result["repr that prints"].text == "array([1, 2])"


@pytest.mark.parametrize("hook", ["__repr__", "as_dict"])
def test_12_an_object_that_never_describes_itself_is_a_time_out(attack: Attack, hook: str) -> None:
    code = f"class Slow:\n  def {hook}(self):\n    while True: pass\nsubmit(Slow())"
    attack(code, TIMEOUT, cpu_s=1)


LEAVING = {
    "leaves early": ("import os\nos._exit(0)", OK),
    "exits in an import": ("import quitter\nsubmit(1)", OK),
    "prints the pass mark": ("print('ok')\nprint('PASSED 138/138')", OK),
    "prints the pass mark and fails": ("print('ok')\nraise ValueError", ERROR),
    "recurses": ("def f(): f()\nf()", ERROR),
    "recurses in C": ("import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): f()\nf()", ERROR, MEMORY),
    "breaks off": ("import ctypes\nctypes.string_at(0)", ERROR),
    "fails in an exit function": ("import atexit, os\natexit.register(os._exit, 5)", ERROR),
    "writes a result file": ("open('result.json', 'w').write('1')\nopen('/scratch/.result', 'w').write('1')", OK),
}


@pytest.mark.parametrize("name", LEAVING)
def test_15_whoever_leaves_early_has_submitted_nothing(attack: Attack, name: str) -> None:
    code, status, *alternatives = LEAVING[name]
    execution = attack(code, status, *alternatives, files={"quitter.py": b"import sys; sys.exit(0)"})
    assert not execution.submitted


def test_20_time_zone_seeds_threads_and_locale_are_the_same_on_every_machine(sandbox: Sandbox) -> None:
    zone, threads, encoding, seeds = sandbox.run(script("surroundings")).result
    assert (zone, encoding.lower()) == ("UTC", "utf-8")
    assert set(threads.values()) == {"1"}
    assert seeds == [np.random.RandomState(0).normal(), "0"]


def test_21_terminal_escapes_and_direction_marks_are_made_visible(attack: Attack) -> None:
    code = r"print('\x1b]8;;http://x\x07\x1b[2J\x9b\u202e\u2066<script>alert(1)</script>=cmd|calc')"
    expected = r"\x1b]8;;http://x\x07\x1b[2J\x9b\u202e\u2066<script>alert(1)</script>=cmd|calc"
    assert attack(code, OK).stdout == expected + "\n"


def test_22_text_that_is_code_stays_text(attack: Attack, host: Any) -> None:
    mark = host.folder / "evaluated"
    texts = [f"__import__('os').system('touch {mark}')", f"array([__import__('os').mkdir({str(mark)!r})])", "1+1"]
    assert attack(f"submit({texts!r})", OK).result == texts
    assert not os.path.lexists(mark)
