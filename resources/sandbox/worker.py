"""The host's side of one worker: a process or container that has imported an environment and runs scripts in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Protocol

from resources.sandbox.execution import Execution, from_reply
from resources.sandbox.inside import frames
from resources.sandbox.limits import MEBIBYTE, Limits

START_SECONDS = 180.0
GRACE_SECONDS = 15.0


class WorkerLost(RuntimeError):
    """The worker ended, stopped answering or answered nonsense; it is closed and another one is needed."""


class Channel(Protocol):
    """Bytes to and from a worker's supervisor."""

    def send(self, data: bytes, deadline: float) -> None:
        """Sends all of `data` before time.monotonic() is `deadline`. Raises OSError."""

    def receive(self, count: int, deadline: float) -> bytes:
        """Exactly `count` bytes. Raises OSError (TimeoutError at the deadline) or EOFError."""

    def errors(self) -> str:
        """What the supervisor has written to its stderr, shortened."""

    def close(self) -> None:
        """Ends the worker with everything in it and waits until it is gone. May be called again."""


class Worker:
    """Runs scripts one after the other over a channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.executions = 0
        self.usable = True
        self.import_s = 0.0

    def wait_until_ready(self) -> None:
        """Waits until the environment is imported. Raises WorkerLost with the reason."""
        ready, _ = self._receive(time.monotonic() + START_SECONDS, MEBIBYTE)
        self.import_s = float(ready.get("import_s", 0.0))

    def execute(self, code: bytes, files: Mapping[str, bytes], limits: Limits) -> Execution:
        """Runs one script. Raises WorkerLost, after which the worker is closed."""
        self.executions += 1
        request = frames.pack({"limits": asdict(limits), "names": list(files)}, [code, *files.values()])
        deadline = time.monotonic() + limits.wall_s + GRACE_SECONDS
        try:
            self.channel.send(request, deadline)
        except OSError as error:
            raise self._lost(f"no longer listens ({error})") from None
        most = 2 * (limits.output + 100) + limits.result + limits.outputs
        reply, blobs = self._receive(deadline, most)
        if "failed" in reply:
            raise self._lost(str(reply["failed"]))
        try:
            self.usable = not reply["retire"]
            return from_reply(reply, blobs, limits.result)
        except (KeyError, TypeError, ValueError) as error:
            raise self._lost(f"sent a reply that makes no sense ({error!r})") from None

    def close(self) -> None:
        """Ends the worker."""
        self.usable = False
        self.channel.close()

    def _receive(self, deadline: float, max_bytes: int) -> tuple[dict[str, Any], list[bytes]]:
        try:
            return frames.unpack(lambda count: self.channel.receive(count, deadline), max_bytes)
        except TimeoutError:
            raise self._lost("does not answer") from None
        except (EOFError, OSError):
            raise self._lost("has ended") from None
        except frames.FrameError as error:
            raise self._lost(f"sent {error}") from None

    def _lost(self, what: str) -> WorkerLost:
        errors = self.channel.errors()
        self.close()
        return WorkerLost(f"the sandbox worker {what}" + (f": {errors}" if errors else ""))
