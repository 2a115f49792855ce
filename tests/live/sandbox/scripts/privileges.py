import ctypes
import errno
import os
import platform

# Name: numbers on x86_64 and aarch64, arguments. Each must be refused whatever its arguments.
CALLS = {
    "unshare user": ((272, 97), (0x10000000,)),
    "unshare mounts": ((272, 97), (0x20000,)),
    "mount": ((165, 40), (b"none", b"/scratch", b"tmpfs", 0, None)),
    "umount": ((166, 39), (b"/proc", 2)),
    "bpf": ((321, 280), (0, None, 0)),
    "io_uring": ((425, 425), (1, bytes(120))),
    "keyctl": ((250, 219), (0, -3, 0)),
    "add_key": ((248, 217), (b"user", b"x", b"y", 1, -2)),
    "perf": ((298, 241), (bytes(120), 0, -1, -1, 0)),
    "userfaultfd": ((323, 282), (0,)),
    "setns": ((308, 268), (0, 0)),
    "reboot": ((169, 142), (0, 0, 0, None)),
    "module": ((313, 273), (0, b"", 0)),
    "clock": ((227, 112), (0, bytes(16))),
    "hostname": ((170, 161), (b"owned", 5)),
    "chroot": ((161, 51), (b"/scratch",)),
    "pivot_root": ((155, 41), (b".", b".")),
    "setuid": ((105, 146), (0,)),
    "setgid": ((106, 144), (0,)),
    "handle": ((304, 265), (-100, bytes(16), 0)),
    "personality": ((135, 92), (0x40000,)),
    "clone user": ((56, 220), (0x10000000 | 17, None, None, None, None)),
    "clone3": ((435, 435), (bytes(88), 88)),
    "x32 getpid": ((0x40000000 + 39, 9999), ()),
    "unknown": ((462, 462), ()),
    "quota": ((179, 60), (0, None, 0, None)),
    "swap": ((167, 224), (b"/scratch/x", 0)),
    "syslog": ((103, 116), (10, None, 0)),
    "process_vm": ((310, 270), (1, None, 0, None, 0, 0)),
}
libc = ctypes.CDLL(None, use_errno=True)
column = ("x86_64", "aarch64").index(platform.machine())
allowed = {}
for name, (numbers, arguments) in CALLS.items():
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(numbers[column]), *arguments)
    if result == 0 and name.startswith("clone"):
        os._exit(0)
    if ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        allowed[name] = (result, errno.errorcode.get(ctypes.get_errno()))
status = dict(line.split(":\t") for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
fields = ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs", "Seccomp")
submit((allowed, {field: status[field] for field in fields}, os.getresuid()))
