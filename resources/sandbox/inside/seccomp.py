"""The system calls that model-written code cannot make, as a filter that the kernel runs.

Refused with EPERM: what reaches into other processes, namespaces and mounts, kernel keys, tracing, BPF, io_uring,
clocks, modules, and memory or messages that outlive or escape a process's accounting (System V, POSIX queues, memfd).
No script decides what becomes of its ended children (an action for SIGCHLD): the kernel forgets the processor time of a
child that is ignored, while that of one that is waited for, or left to the warden, is found.
Unknown newer calls, clone3 (whose flags a filter cannot read) and the x32 numbers get ENOSYS, on which the C library
falls back to what it can use. New namespaces are refused in clone, and in socket all but UNIX and internet sockets,
which end in an empty network namespace.

Numbers: Linux 6.1's asm/unistd_64.h (x86_64) and asm-generic/unistd.h (aarch64); calls that only one has are None.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import struct

from resources.sandbox.inside import kernel

NEWEST_KNOWN = 450
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CLONE, _CLONE3, _SOCKET, _SIGACTION = (56, 220), (435, 435), (41, 198), (13, 134)
_NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)

_REFUSED_TABLE = """
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, pidfd_getfd 438 438
process_madvise 440 440, unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41
chroot 161 51, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, move_mount 429 429
open_tree 428 428, mount_setattr 442 442, open_by_handle_at 304 265, name_to_handle_at 303 264
fanotify_init 300 262, quotactl 179 60, quotactl_fd 443 443, swapon 167 224, swapoff 168 225, acct 163 89
bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426
io_uring_register 427 427, keyctl 250 219, add_key 248 217, request_key 249 218, init_module 175 105
finit_module 313 273, delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294, reboot 169 142
syslog 103 116, settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171
sethostname 170 161, setdomainname 171 162, iopl 172 -, ioperm 173 -, shmget 29 194, shmat 30 196, shmctl 31 195
shmdt 67 197, semget 64 190, semop 65 193, semctl 66 191, semtimedop 220 192, msgget 68 186, msgsnd 69 189
msgrcv 70 188, msgctl 71 187, mq_open 240 180, mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183
mq_notify 244 184, mq_getsetattr 245 185, memfd_create 319 279, memfd_secret 447 447, vmsplice 278 75
personality 135 92, move_pages 279 239, migrate_pages 256 238, mbind 237 235, set_mempolicy 238 237
set_mempolicy_home_node 450 450, uselib 134 -, ustat 136 -, sysfs 139 -, vhangup 153 58, nfsservctl 180 42
modify_ldt 154 -, lookup_dcookie 212 18, _sysctl 156 -, create_module 174 -, get_kernel_syms 177 -
query_module 178 -
"""
REFUSED: dict[str, tuple[int | None, int | None]] = {
    name: tuple(None if number == "-" else int(number) for number in numbers)  # type: ignore[misc]
    for name, *numbers in (entry.split() for entry in _REFUSED_TABLE.replace("\n", ",").split(",") if entry.strip())
}

# Classic BPF, see linux/bpf_common.h; offsets into struct seccomp_data.
_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_SET, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_UPPER_HALF = 4
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

Instruction = tuple[int, int, int, int]


def program(machine: str) -> bytes:
    """The filter for `machine` (x86_64 or aarch64) as an array of struct sock_filter. Raises KeyError for others."""
    column, audit = _ARCHITECTURES[machine]
    refused = sorted(number for numbers in REFUSED.values() if (number := numbers[column]) is not None)
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_GREATER, 0, 1, NEWEST_KNOWN),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_JUMP_EQUAL, 0, 1, _CLONE3[column]),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for number in refused:
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    code += _actions_for_children(_SIGACTION[column])
    code += [
        (_JUMP_EQUAL, 0, 3, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_SET, 0, 1, _NAMESPACE_FLAGS),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_EQUAL, 0, len(_FAMILIES) + 2, _SOCKET[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
    ]
    for index, family in enumerate(_FAMILIES):
        code.append((_JUMP_EQUAL, len(_FAMILIES) - index, 0, family))
    code += [(_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _actions_for_children(sigaction: int) -> list[Instruction]:
    """Asking which action SIGCHLD has, without a new one, passes; the kernel reads 32 bits of a signal's number."""
    return [
        (_JUMP_EQUAL, 0, 8, sigaction),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_EQUAL, 0, 5, signal.SIGCHLD),
        (_LOAD, 0, 0, _SECOND_ARGUMENT),
        (_JUMP_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, _SECOND_ARGUMENT + _UPPER_HALF),
        (_JUMP_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install() -> None:
    """Puts this thread and all its descendants under the filter, for good. Needs no-new-privileges. Raises OSError."""
    code = program(os.uname().machine)
    loaded = _Program(len(code) // 8, code)
    kernel.prctl(kernel.PR_SET_SECCOMP, kernel.SECCOMP_MODE_FILTER, ctypes.addressof(loaded))
