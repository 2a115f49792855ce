"""The pipes from a script to its warden: bounded whatever is written into them."""

from __future__ import annotations

import os


class Stream:
    """The reading end of a pipe that keeps the first and the last bytes of what comes, `room` in all."""

    def __init__(self, room: int) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.half = room // 2
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def drain(self) -> bool:
        """Reads what is there, at most 1 MiB; False at the end of the stream."""
        for _ in range(16):
            try:
                data = os.read(self.reader, 65536)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.total += len(data)
            self._keep(data)
        return True

    def _keep(self, data: bytes) -> None:
        missing = max(0, self.half - len(self.head))
        self.head += data[:missing]
        self.tail += data[missing:]
        if len(self.tail) > 4 * self.half + 65536:
            del self.tail[: len(self.tail) - self.half]

    def content(self) -> bytes:
        """What was kept, with a line that tells how much is missing."""
        missing = self.total - 2 * self.half
        if missing <= 0:
            return bytes(self.head + self.tail)
        return bytes(self.head) + b"\n[%d bytes left out]\n" % missing + bytes(self.tail[-self.half :])


class Result(Stream):
    """The pipe of `submit`: one byte when the child is ready for the script, then messages; the last one counts."""

    def __init__(self, room: int) -> None:
        super().__init__(0)
        self.room = room
        self.ready = False
        self.last: bytes | None = None

    def _keep(self, data: bytes) -> None:
        self.tail += data

    def drain(self) -> bool:
        """Reads what is there; a message longer than `room` makes everything after it void."""
        open_still = super().drain()
        if self.tail and not self.ready:
            self.ready = True
            del self.tail[:1]
        while len(self.tail) >= 8:
            end = 8 + int.from_bytes(self.tail[:8], "big")
            if end > self.room + 8:
                self.tail = self.tail[:8]
                break
            if end > len(self.tail):
                break
            self.last = bytes(self.tail[8:end])
            del self.tail[:end]
        return open_still
