"""Scripts whose children use processor time, and ways to have the kernel forget it."""

from __future__ import annotations


def burning(before: str = "", fork: str = "os.fork()", after: str = "wait()") -> str:
    """A script whose children use 20 seconds of processor time in all, 0.3 each."""
    return f"""
import ctypes, os, signal, time
C = ctypes.CDLL(None)
def wait():
    try: os.wait()
    except ChildProcessError: pass
def orphan():
    if os.fork() == 0:
        if os.fork(): os._exit(0)
        return 0
    return os.wait()
{before}
end = time.monotonic() + 20
while time.monotonic() < end:
    if {fork} == 0:
        start = time.process_time()
        while time.process_time() - start < 0.3: pass
        os._exit(0)
    {after}
submit('evaded')
"""


IGNORED = "try: signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nexcept OSError: pass"
# SA_NOCLDWAIT by the C library's structure.
NOT_WAITED_FOR = """
class Action(ctypes.Structure):
    _fields_ = [('handler', ctypes.c_void_p), ('mask', ctypes.c_ulong * 16),
                ('flags', ctypes.c_int), ('restorer', ctypes.c_void_p)]
C.sigaction(signal.SIGCHLD, ctypes.byref(Action(flags=2)), None)
"""
# SIG_IGN by the kernel's structure, under a number whose upper half the kernel does not read.
IGNORED_BY_NUMBER = """
number = {'x86_64': 13, 'aarch64': 134}[os.uname().machine]
C.syscall(number, ctypes.c_ulong(signal.SIGCHLD | 1 << 32), (ctypes.c_ulong * 4)(1), None, ctypes.c_ulong(8))
"""
# A child without a signal at its end.
SILENT = "C.syscall({'x86_64': 56, 'aarch64': 220}[os.uname().machine], 0, 0, 0, 0, 0)"
