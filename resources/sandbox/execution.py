"""What came of one execution, and whose doing it was."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from resources.outcomes import Status
from resources.sandbox.decoding import DecodingError, decode
from resources.sandbox.inside.child import EXIT_MEMORY
from resources.sandbox.limits import Limits

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LIMIT_STATUS = {"wall_s": Status.CODE_TIMEOUT, "cpu_s": Status.CODE_TIMEOUT, "memory": Status.CODE_MEMORY}


@dataclass(frozen=True)
class Execution:
    """The outcome of one script.

    `result` is what it last gave to `submit`, decoded, and None when `submitted` is False. `status` is `ok` for exit
    code 0, else the script's own failure (`code_error`, `code_timeout`, `code_memory`), or `sandbox_error` when it
    never ran; `detail` says which limit, signal or defect in a few words. `stdout` and `stderr` have control characters
    escaped. Times in seconds, `peak_memory` in bytes (an upper
    bound where several processes share pages); `files` are new and changed files by relative name, `notes` tell
    what was left out of them. `encoded` is `result` as it came, JSON text in UTF-8 that `decoding.decode` reads.
    """

    stdout: str
    stderr: str
    result: Any
    submitted: bool
    status: Status
    detail: str
    wall_s: float
    cpu_s: float
    peak_memory: int
    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    encoded: bytes = field(default=b"", repr=False)


class RunsScripts(Protocol):
    """What runs a script: an open sandbox, or one with a store of what was done."""

    def run(
        self, code: str, files: Mapping[str, bytes | Path] | None = None, limits: Limits | None = None
    ) -> Execution:
        """The execution of `code`; see `pool.Sandbox.run`."""


def printable(data: bytes) -> str:
    """`data` as text that is safe to store and show: bad UTF-8 replaced, control and direction characters escaped."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return _UNPRINTABLE.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def from_reply(reply: dict[str, Any], blobs: list[bytes], max_result: int) -> Execution:
    """The execution that a warden's reply describes."""
    stdout, stderr, encoded, *contents = blobs
    status, detail = _verdict(reply)
    result, submitted = None, bool(reply["submitted"])
    if submitted:
        try:
            result = decode(encoded, max_result)
        except DecodingError as error:
            submitted = False
            status, detail = (Status.CODE_ERROR, str(error)) if status is Status.OK else (status, detail)
    return Execution(
        stdout=printable(stdout),
        stderr=printable(stderr),
        result=result,
        submitted=submitted,
        status=status,
        detail=detail,
        wall_s=float(reply["wall_s"]),
        cpu_s=float(reply["cpu_s"]),
        peak_memory=int(reply["peak_memory"]),
        files=dict(zip(reply["names"], contents, strict=True)),
        notes=[str(note) for note in reply["notes"]],
        encoded=encoded if submitted else b"",
    )


def failed(status: Status, detail: str, wall_s: float = 0.0) -> Execution:
    """An execution of which there is nothing but its status."""
    return Execution("", "", None, False, status, detail, wall_s, 0.0, 0)


def _verdict(reply: dict[str, Any]) -> tuple[Status, str]:
    """The status of a reply and a few words about it."""
    reason, exit_code = reply["reason"], reply["exit_code"]
    if not reply["prepared"]:
        return Status.SANDBOX_ERROR, "the sandbox could not be prepared; see stderr"
    if reason != "exited":
        return _LIMIT_STATUS.get(reason, Status.CODE_ERROR), f"limit {reason}"
    if exit_code == 0:
        return Status.OK, ""
    if exit_code == EXIT_MEMORY:
        return Status.CODE_MEMORY, "MemoryError"
    if exit_code == -signal.SIGXCPU:
        return Status.CODE_TIMEOUT, "limit cpu_s"
    if exit_code == -signal.SIGKILL and reply["memory_kills"]:
        return Status.CODE_MEMORY, "limit memory"
    if exit_code is not None and exit_code < 0:
        return Status.CODE_ERROR, f"signal {-exit_code}"
    return Status.CODE_ERROR, f"exit code {exit_code}"
