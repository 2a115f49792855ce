"""What every backend does: a new backend is done when it passes these tests."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resources.outcomes import Status
from resources.sandbox import environments
from resources.sandbox.limits import MEBIBYTE
from resources.sandbox.pool import Sandbox

pytestmark = pytest.mark.live


def test_a_script_writes_its_answer(sandbox: Sandbox) -> None:
    execution = sandbox.run("print('working')\nsubmit({'gap': 1.25, 'bands': (1, 2)})")
    assert execution.status is Status.OK
    assert execution.submitted
    assert execution.result == {"gap": 1.25, "bands": (1, 2)}
    assert execution.stdout == "working\n"
    assert execution.stderr == ""


def test_a_function_is_called_by_appending_a_line(sandbox: Sandbox) -> None:
    function = "def answer():\n    import numpy as np\n    return {'mean': np.arange(4).mean()}\n"
    assert sandbox.run(function + "\nsubmit(answer())\n").result == {"mean": 1.5}


def test_the_last_submission_counts(sandbox: Sandbox) -> None:
    assert sandbox.run("for i in range(2000): submit([i] * 1000)").result == [1999] * 1000


def test_a_script_that_submits_nothing_is_ok_without_a_result(sandbox: Sandbox) -> None:
    execution = sandbox.run("x = 1")
    assert (execution.status, execution.submitted, execution.result) == (Status.OK, False, None)


def test_none_is_a_submission(sandbox: Sandbox) -> None:
    execution = sandbox.run("submit(None)")
    assert (execution.submitted, execution.result) == (True, None)


def test_typed_values_come_back(sandbox: Sandbox) -> None:
    code = """
import numpy as np
submit([float('nan'), float('-inf'), 2**70, 1j, b'\\x00\\xff', {1, 2}, None, np.float32(0.5), np.eye(2), 'Å'])
"""
    nan, infinity, large, imaginary, data, members, nothing, scalar, matrix, text = sandbox.run(code).result
    assert math.isnan(nan)
    assert (infinity, large, imaginary, data, members, nothing, text) == (
        -math.inf, 2**70, 1j, b"\x00\xff", {1, 2}, None, "Å",
    )  # fmt: skip
    assert type(scalar) is np.float32
    np.testing.assert_array_equal(matrix, np.eye(2))


def test_an_array_of_a_megabyte_comes_back_whole(sandbox: Sandbox) -> None:
    result = sandbox.run("import numpy as np\nsubmit(np.arange(131072.0))").result
    np.testing.assert_array_equal(result, np.arange(131072.0))


def test_input_files_are_there_and_nothing_else(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_bytes(b"1,2\n3,4\n")
    files = {"data/map.csv": tmp_path / "map.csv", "blob.bin": bytes(range(256)), "empty": b"", "ångström.txt": b"x"}
    code = """
import os
names = sorted(os.path.join(folder, name) for folder, _, names in os.walk('.') for name in names)
submit((os.getcwd(), names, open('data/map.csv').read(), open('blob.bin', 'rb').read()))
"""
    folder, names, text, blob = sandbox.run(code, files).result
    assert folder == "/scratch"
    assert names == ["./blob.bin", "./data/map.csv", "./empty", "./ångström.txt"]
    assert text == "1,2\n3,4\n"
    assert blob == bytes(range(256))


def test_a_script_can_import_a_module_that_came_with_it(sandbox: Sandbox) -> None:
    assert sandbox.run("import helper\nsubmit(helper.f(2))", {"helper.py": b"def f(x): return x + 1"}).result == 3


def test_new_and_changed_files_come_back_and_unchanged_ones_do_not(sandbox: Sandbox) -> None:
    code = """
import os
os.makedirs('out/deep')
open('out/deep/new.txt', 'w').write('new')
open('changed.txt', 'a').write(' more')
"""
    execution = sandbox.run(code, {"same.txt": b"same", "changed.txt": b"some"})
    assert execution.files == {"out/deep/new.txt": b"new", "changed.txt": b"some more"}
    assert execution.notes == []


@pytest.mark.parametrize("name", ["../up", "/absolute", "a/../b", "./a", "a//b", "", "a\nb", "a\x00b", "x/" * 9 + "y"])
def test_input_names_that_are_no_plain_relative_paths_are_refused(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(ValueError, match="input file"):
        sandbox.run("", {name: b""})


def test_text_is_utf_8_and_control_characters_are_escaped(sandbox: Sandbox) -> None:
    code = r"""
import os, sys
print('Γ–K, 0.5 Å⁻¹')
os.write(1, b'\xff\x00\x1b]0;owned\x07\x1b[31m\r\n\xe2\x80\xae')
print('Ärger', file=sys.stderr)
"""
    execution = sandbox.run(code)
    assert execution.stdout == "Γ–K, 0.5 Å⁻¹\n\ufffd\\x00\\x1b]0;owned\\x07\\x1b[31m\n\\u202e"
    assert execution.stderr == "Ärger\n"


@pytest.mark.parametrize(
    ("code", "status", "detail"),
    [
        ("import sys; sys.exit()", Status.OK, ""),
        ("import sys; sys.exit(0)", Status.OK, ""),
        ("raise SystemExit(3)", Status.CODE_ERROR, "exit code 3"),
        ("raise SystemExit('stop')", Status.CODE_ERROR, "exit code 1"),
        ("import os; os._exit(9)", Status.CODE_ERROR, "exit code 9"),
        ("import os; os.abort()", Status.CODE_ERROR, "signal 6"),
        ("1 / 0", Status.CODE_ERROR, "exit code 1"),
        ("def f(:", Status.CODE_ERROR, "exit code 1"),
        ("x = '\0'", Status.CODE_ERROR, "exit code 1"),
        ("raise MemoryError", Status.CODE_MEMORY, "MemoryError"),
        ("raise KeyboardInterrupt", Status.CODE_ERROR, "exit code 1"),
        ("(" * 100_000, Status.CODE_ERROR, "exit code 1"),
    ],
)
def test_how_a_script_ends_is_its_status(sandbox: Sandbox, code: str, status: Status, detail: str) -> None:
    execution = sandbox.run(code)
    assert (execution.status, execution.detail) == (status, detail)


def test_an_error_shows_the_scripts_own_lines_only(sandbox: Sandbox) -> None:
    stderr = sandbox.run("def f():\n    return [][1]\n\nf()\n").stderr
    assert stderr.splitlines()[:3] == [
        "Traceback (most recent call last):",
        '  File "script.py", line 4, in <module>',
        "    f()",
    ]
    assert stderr.splitlines()[-1] == "IndexError: list index out of range"


def test_exit_functions_and_threads_run_to_their_end(sandbox: Sandbox) -> None:
    code = """
import atexit, threading, time
atexit.register(print, 'bye')
threading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()
print('main')
"""
    assert sandbox.run(code).stdout == "main\nthread\nbye\n"


def test_subprocesses_and_process_pools_work(sandbox: Sandbox) -> None:
    code = """
import subprocess, sys
from multiprocessing import Pool
def square(x): return x * x
with Pool(2) as pool:
    squares = pool.map(square, range(4))
text = subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout
submit((squares, text))
"""
    execution = sandbox.run(code)
    assert execution.result == ([0, 1, 4, 9], "42\n"), execution.stderr


def test_a_time_out_ends_the_script_and_its_children(sandbox: Sandbox) -> None:
    code = (
        "import subprocess, time\nprint('started', flush=True)\nsubprocess.Popen(['sleep', '1000'])\ntime.sleep(1000)"
    )
    start = time.monotonic()
    execution = sandbox.run(code, limits=replace(sandbox.ceiling, wall_s=1))
    assert (execution.status, execution.detail) == (Status.CODE_TIMEOUT, "limit wall_s")
    assert execution.stdout == "started\n"
    assert 1 <= execution.wall_s < 10
    assert time.monotonic() - start < 15
    listing = sandbox.run("import os; submit([p for p in os.listdir('/proc') if p.isdigit()])").result
    assert len(listing) <= 3


def test_processor_time_is_limited_over_all_processes(sandbox: Sandbox) -> None:
    code = "import os\nos.fork()\nos.fork()\nwhile True: pass"
    execution = sandbox.run(code, limits=replace(sandbox.ceiling, cpu_s=2))
    assert (execution.status, execution.detail) == (Status.CODE_TIMEOUT, "limit cpu_s")
    assert 2 <= execution.cpu_s < 6


def test_what_was_used_is_measured(sandbox: Sandbox) -> None:
    code = """
import time
block = bytearray(100 << 20)
end = time.process_time() + 0.5
while time.process_time() < end: pass
time.sleep(0.3)
"""
    execution = sandbox.run(code)
    assert execution.wall_s >= 0.8
    assert 0.5 <= execution.cpu_s < 2
    assert 95 * MEBIBYTE <= execution.peak_memory <= 130 * MEBIBYTE


def test_a_short_peak_of_memory_is_measured(sandbox: Sandbox) -> None:
    assert sandbox.run("del_me = bytearray(80 << 20); del del_me").peak_memory >= 75 * MEBIBYTE


def test_memory_shared_by_a_fork_counts_once(sandbox: Sandbox) -> None:
    code = """
import os, time
block = bytearray(100 << 20)
for _ in range(5):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break
"""
    execution = sandbox.run(code)
    assert execution.status is Status.OK, execution
    assert execution.peak_memory <= sandbox.ceiling.memory


def test_long_output_keeps_its_beginning_and_its_end(sandbox: Sandbox) -> None:
    execution = sandbox.run("print('first')\nfor i in range(100_000): print(i)\nprint('last')")
    assert execution.status is Status.OK
    assert execution.stdout.startswith("first\n0\n1\n")
    assert execution.stdout.endswith("99999\nlast\n")
    assert "bytes left out]" in execution.stdout
    assert len(execution.stdout) < 70_000


def test_a_limit_above_the_ceiling_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="limit pids=33"):
        sandbox.run("", limits=replace(sandbox.ceiling, pids=33))


def test_the_same_script_gives_the_same_random_numbers(sandbox: Sandbox) -> None:
    code = """
import os, random, time, numpy as np
submit((random.random(), np.random.rand(2).tolist(), hash('a'), time.tzname, os.environ['OMP_NUM_THREADS']))
"""
    outside = {**os.environ, "PYTHONHASHSEED": "0"}
    ask = [sys.executable, "-c", "import random; random.seed(0); print(random.random(), hash('a'))"]
    number, text_hash = subprocess.run(ask, env=outside, capture_output=True, check=True, text=True).stdout.split()
    expected = (float(number), np.random.RandomState(0).rand(2).tolist(), int(text_hash), ("UTC", "UTC"), "1")
    assert sandbox.run(code).result == expected
    assert sandbox.run(code).result == expected


def test_scripts_run_side_by_side(sandbox: Sandbox) -> None:
    code = "import time; t = time.time(); time.sleep(1); submit((t, time.time()))"
    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):  # the first time the second worker has to start
            results = [execution.result for execution in threads.map(sandbox.run, [code, code])]
    (first_start, first_end), (second_start, second_end) = results
    assert max(first_start, second_start) < min(first_end, second_end)


def test_the_environment_has_the_pinned_packages(sandbox: Sandbox) -> None:
    code = """
from importlib.metadata import version
submit({name: version(name) for name in ('numpy', 'scipy', 'pandas', 'lmfit', 'scikit-image')})
"""
    pins = environments.environment("cme").requirements.read_text().splitlines()
    versions = sandbox.run(code).result
    assert versions == {name: version for name, version in (pin.split("==") for pin in pins) if name in versions}
