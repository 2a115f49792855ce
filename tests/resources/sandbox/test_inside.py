"""What runs inside, as far as it can be tested outside: messages, pipes, collected files, the system call filter."""

from __future__ import annotations

import errno
import io
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resources.sandbox.inside import frames, outputs, seccomp, warden
from resources.sandbox.inside.streams import Result, Stream


def reader(data: bytes):  # type: ignore[no-untyped-def]
    source = io.BytesIO(data)

    def read(count: int) -> bytes:
        part = source.read(count)
        if len(part) < count:
            raise EOFError
        return part

    return read


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9)), st.lists(st.binary()))
def test_messages_come_back(header: dict[str, object], blobs: list[bytes]) -> None:
    back, contents = frames.unpack(reader(frames.pack(header, blobs)), 10_000)
    assert {**header, "sizes": [len(blob) for blob in blobs]} == back
    assert contents == blobs


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">I", 2**31),
        struct.pack(">I", 2) + b"{}",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 14) + b'{"sizes":[-1]}',
        struct.pack(">I", 16) + b'{"sizes":[true]}',
        struct.pack(">I", 15) + b'{"sizes":[101]}',
        struct.pack(">I", 3) + b"\xff\xff\xff",
    ],
)
def test_messages_out_of_bounds_are_refused(data: bytes) -> None:
    with pytest.raises(frames.FrameError):
        frames.unpack(reader(data), 100)


def test_a_stream_keeps_both_ends() -> None:
    stream = Stream(20)
    os.write(stream.writer, bytes(range(97, 123)) * 2000)
    assert stream.drain()
    os.close(stream.writer)
    while stream.drain():
        pass
    assert stream.content() == b"abcdefghij\n[51980 bytes left out]\nqrstuvwxyz"
    assert stream.total == 52_000


@given(
    half=st.integers(1, 40), lengths=st.lists(st.one_of(st.integers(1, 200), st.integers(60_000, 65_536)), max_size=12)
)
@example(half=10, lengths=[10, 65_536, 40, 10])  # the last of these leaves of the tail what is kept, and no more
def test_a_stream_tells_what_is_missing_however_it_came(half: int, lengths: list[int]) -> None:
    stream = Stream(2 * half)
    written = bytearray()
    for number, length in enumerate(lengths):
        part = bytes([97 + number]) * length
        os.write(stream.writer, part)
        stream.drain()
        written += part
    missing = len(written) - 2 * half
    mark = b"\n[%d bytes left out]\n" % missing
    whole = bytes(written) if missing <= 0 else bytes(written[:half]) + mark + bytes(written[-half:])
    assert stream.content() == whole
    os.close(stream.reader)
    os.close(stream.writer)


def test_a_short_stream_is_kept_whole() -> None:
    stream = Stream(20)
    os.write(stream.writer, b"0123456789abcdefghij")
    stream.drain()
    assert stream.content() == b"0123456789abcdefghij"


def message(data: bytes) -> bytes:
    return struct.pack(">Q", len(data)) + data


def test_the_last_whole_message_counts() -> None:
    result = Result(10)
    os.write(result.writer, b"\x01" + message(b"first") + message(b"second") + message(b"third")[:-1])
    result.drain()
    assert (result.ready, result.last) == (True, b"second")


def test_a_message_above_the_limit_voids_what_follows() -> None:
    result = Result(10)
    os.write(result.writer, b"\x01" + message(b"first") + message(b"x" * 11) + message(b"later"))
    result.drain()
    assert result.last == b"first"
    assert len(result.tail) <= 8


def test_without_the_first_byte_nothing_has_run() -> None:
    result = Result(10)
    result.drain()
    assert not result.ready


def test_new_and_changed_files_are_collected(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/new").write_bytes(b"1")
    (tmp_path / "same").write_bytes(b"2")
    (tmp_path / "changed").write_bytes(b"3")
    files, notes = outputs.collect(str(tmp_path), {"same": b"2", "changed": b"0"}, 100)
    assert files == {"sub/new": b"1", "changed": b"3"}
    assert notes == []


def test_odd_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"1")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "one").write_bytes(b"1")
    os.link(tmp_path / "one", tmp_path / "two")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "new\nline").write_bytes(b"1")
    (tmp_path / "large").write_bytes(b"1" * 101)
    files, notes = outputs.collect(str(tmp_path), {}, 100)
    assert files == {"plain": b"1"}
    assert sorted(notes) == ["hard link: 2", "not a regular file: 2", "odd name: 1", "too large: 1"]


def test_a_folder_is_emptied_however_deep_and_locked(tmp_path: Path) -> None:
    start = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(3000):  # a path far longer than the system takes
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.chdir(start)
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked/inner").mkdir(mode=0)
    (tmp_path / "locked").chmod(0)
    outputs.empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_emptied_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept").write_bytes(b"1")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/link").symlink_to(tmp_path / "outside")
    outputs.empty(str(tmp_path / "inside"))
    assert (tmp_path / "outside/kept").exists()


def decision(program: bytes, machine: int, number: int, first: int = 0, second: int = 0) -> int:
    """What the kernel would answer: an interpreter of the few instructions that such filters are made of."""
    data = struct.pack("=IIQ6Q", number, machine, 0, first, second, 0, 0, 0, 0)
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator, at = 0, 0
    while True:
        operation, jump, otherwise, operand = code[at]
        at += 1
        if operation == 0x06:
            return int(operand)
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, operand)
            continue
        holds = {0x15: accumulator == operand, 0x25: accumulator > operand, 0x45: bool(accumulator & operand)}[
            operation
        ]
        at += jump if holds else otherwise


ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_refused_call_is_refused_and_everyday_calls_pass(machine: str) -> None:
    audit, column = MACHINES[machine]
    program = seccomp.program(machine)
    for name, numbers in seccomp.REFUSED.items():
        if numbers[column] is not None:
            assert decision(program, audit, numbers[column]) == ERRNO | errno.EPERM, name
    # read, write, close, mmap, execve, exit_group, futex, getrandom
    everyday = ((0, 63), (1, 64), (3, 57), (9, 222), (59, 221), (231, 94), (202, 98), (318, 278))
    for numbers in everyday:
        assert decision(program, audit, numbers[column]) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_namespaces_newer_calls_and_other_architectures_are_refused(machine: str) -> None:
    audit, column = MACHINES[machine]
    program = seccomp.program(machine)
    clone = (56, 220)[column]
    assert decision(program, audit, clone, 0x01200011) == ALLOW  # what fork and threads ask for
    for flag in (0x80, 0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert decision(program, audit, clone, flag | 17) == ERRNO | errno.EPERM
    for number in (435, 451, 462, 0x40000000 + 39):
        assert decision(program, audit, number) == ERRNO | errno.ENOSYS
    assert decision(program, 0x40000003, 1) == KILL  # 32-bit calls have other numbers


@pytest.mark.parametrize("machine", MACHINES)
def test_only_unix_and_internet_sockets_pass(machine: str) -> None:
    audit, column = MACHINES[machine]
    program = seccomp.program(machine)
    passing = {family for family in range(50) if decision(program, audit, (41, 198)[column], family) == ALLOW}
    assert passing == {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6}


@pytest.mark.parametrize("machine", MACHINES)
def test_only_an_action_for_ended_children_is_refused(machine: str) -> None:
    audit, column = MACHINES[machine]
    program, sigaction = seccomp.program(machine), (13, 134)[column]
    for upper in (0, 1 << 32):  # which the kernel does not read
        for pointer in (1, 1 << 32, 0x7FFF_0000_0000):
            assert decision(program, audit, sigaction, signal.SIGCHLD | upper, pointer) == ERRNO | errno.EPERM
        assert decision(program, audit, sigaction, signal.SIGCHLD | upper, 0) == ALLOW
    for number in set(range(1, 65)) - {signal.SIGCHLD}:
        assert decision(program, audit, sigaction, number, 1 << 32) == ALLOW


def test_a_warden_refuses_to_work_outside_a_process_namespace() -> None:
    """It would end every process of the machine."""
    place = warden.Place("users", 1, 1, 1)
    with pytest.raises(RuntimeError, match="outside a process namespace"):
        warden._answered(place)


def test_own_memory_is_measured() -> None:
    """In a new process: one that has run for long has freed memory at hand, and other threads use or return some."""
    program = (
        "from resources.sandbox.inside import watch; before = watch.anonymous_bytes(); "
        "block = bytearray(50 << 20); print(watch.anonymous_bytes() - before)"
    )
    taken = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert 45 << 20 < int(taken) < 60 << 20
