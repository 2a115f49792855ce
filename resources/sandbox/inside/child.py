"""The process that runs the model's code: gives up every privilege, checks that it has, then executes the script.

The contract with the script: it runs as `__main__` in an empty folder that holds its input files, and hands its answer
over by calling `submit(value)`; the last call counts. To call a function, append `submit(f())` to the script.
"""

from __future__ import annotations

import atexit
import io
import linecache
import os
import random
import resource
import struct
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from resources.sandbox.encoding import encode
from resources.sandbox.inside import kernel, seccomp

WORK = "/scratch"
RESULT_DESCRIPTOR = 3
EXIT_MEMORY = 77
READY = b"\x01"
SCRIPT = "script.py"


def run(identity: tuple[int, int], limits: Mapping[str, Any], code: bytes, files: Mapping[str, bytes]) -> NoReturn:
    """Runs `code` as user and group `identity` and ends the process. Descriptors 0 to 3 are already in place."""
    try:
        os.setsid()
        os.umask(0o022)
        set_resource_limits(limits)
        become(identity)
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.install()
        check_isolation()
        os.chdir(WORK)
        place(files)
    except BaseException as error:
        os.write(2, f"the sandbox could not be prepared: {type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os.write(
        RESULT_DESCRIPTOR, READY
    )  # no script can have run before this, so a failure until here is the sandbox's own
    os._exit(execute(code, int(limits["result"])))


def set_resource_limits(limits: Mapping[str, Any]) -> None:
    """The kernel's own limits, for each process; `memory` is counted on top of what the preloaded packages map."""
    with open("/proc/self/statm") as statm:
        mapped = int(statm.read().split()[0]) * resource.getpagesize()
    for kind, value in (
        (resource.RLIMIT_AS, mapped + int(limits["memory"])),
        (resource.RLIMIT_CPU, int(limits["cpu_s"]) + 1),
        (resource.RLIMIT_FSIZE, int(limits["file_size"])),
        (resource.RLIMIT_NPROC, int(limits["pids"])),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def become(identity: tuple[int, int]) -> None:
    """Takes the user and group `identity`, for good; where only one user is mapped it is the present one."""
    user, group = identity
    if user != os.getuid():
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)


def check_isolation() -> None:
    """Raises RuntimeError unless the kernel agrees that nothing is left to give up."""
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    for field, wanted in (("CapPrm", "0" * 16), ("CapEff", "0" * 16), ("CapAmb", "0" * 16), ("NoNewPrivs", "1")):
        if status[field] != wanted:
            raise RuntimeError(f"{field} is {status[field]}")
    if status["Seccomp"] != "2":
        raise RuntimeError("no seccomp filter")


def place(files: Mapping[str, bytes]) -> None:
    """Writes the input files under the work folder; their names were checked by the host."""
    for name, content in files.items():
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") as file:
            file.write(content)


def execute(code: bytes, max_result: int) -> int:
    """Runs the script as a fresh interpreter would and returns the exit code."""
    main = types.ModuleType("__main__")
    main.__dict__.update(submit=submitter(max_result), __file__=SCRIPT, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    sys.argv = [SCRIPT]
    sys.path.insert(0, WORK)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), "utf-8")
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(1, "w")), "utf-8", "backslashreplace", line_buffering=True
    )
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w")), "utf-8", "backslashreplace", line_buffering=True
    )
    text = code.decode("utf-8", "replace")
    linecache.cache[SCRIPT] = (len(text), None, text.splitlines(keepends=True), SCRIPT)
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    atexit._clear()
    exit_code = exit_code_of(lambda: exec(compile(text, SCRIPT, "exec", dont_inherit=True), main.__dict__))
    return exit_code or exit_code_of(finish)


def finish() -> None:
    """What an interpreter does at its end: waits for threads, calls exit functions, flushes."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()


def exit_code_of(step: Callable[[], None]) -> int:
    """The exit code that `step` asks for, with an error reported on stderr as an interpreter does."""
    try:
        step()
        return 0
    except SystemExit as request:
        if request.code is None or isinstance(request.code, int):
            return int(request.code or 0) & 0xFF
        print(request.code, file=sys.stderr)
        return 1
    except BaseException as error:
        report(error)
        return EXIT_MEMORY if isinstance(error, MemoryError) else 1


def report(error: BaseException) -> None:
    """The traceback of `error` from the script's own frames on."""
    trace = error.__traceback__
    for _ in range(2):
        trace = trace.tb_next if trace is not None else None
    try:
        sys.stdout.flush()
        traceback.print_exception(type(error), error, trace)
        sys.stderr.flush()
    except BaseException as second:
        os.write(2, f"{type(error).__name__} (no traceback: {type(second).__name__})\n".encode())


def submitter(max_result: int) -> Callable[[Any], None]:
    """The function `submit` that the script sees."""

    def submit(value: Any) -> None:
        """Hands `value` over as the script's answer. The last call counts."""
        data = encode(value, max_result)
        message = memoryview(struct.pack(">Q", len(data)) + data)
        while message:
            message = message[os.write(RESULT_DESCRIPTOR, message) :]

    return submit
