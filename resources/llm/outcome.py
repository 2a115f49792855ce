"""How a try ended: finish reasons, HTTP errors and broken replies, each mapped to one status.

A model's own failure is final and is scored. A failure of the provider, the network or the key is never the model's:
it is tried again where that can help, and otherwise leaves the score empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from resources.llm.answer import Words
from resources.llm.bodies import written
from resources.llm.usage import NOTHING, UNKNOWN, Usage
from resources.outcomes import Status

TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|prompt is too long|too many (input )?tokens|"
    r"input (is|was) too long|exceeds? the (available|maximum|model'?s?).{0,40}(context|token)|request_too_large",
    re.IGNORECASE,
)
FILTERED = re.compile(
    r"content[_ ](filter|policy|management)|responsible_ai_policy|prohibited_content|data_inspection_failed|"
    r"flagged (as|by|for)|blocked by .{0,30}(safety|moderation)",
    re.IGNORECASE,
)
NO_MONEY = re.compile(r"insufficient_quota|insufficient balance|billing|credit balance", re.IGNORECASE)
WORTH_A_RETRY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
SLOW_DOWN = frozenset({429, 529})
LONGEST_MESSAGE = 500


class MalformedReply(Exception):
    """A response body that is not what the provider's interface promises."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A try without a usable reply.

    `retry`: another try may help. `slow_down`: the provider asks for fewer requests. `fatal`: no other request of this
    model would fare better, so that the run should stop asking. `unbilled`: it surely cost nothing.
    """

    status: Status
    message: str
    http_status: int | None = None
    retry: bool = False
    slow_down: bool = False
    fatal: bool = False
    unbilled: bool = False
    retry_after: float | None = None

    @property
    def usage(self) -> Usage:
        """What the try used: nothing when it cost nothing, and else nobody knows, because the reply got lost."""
        return NOTHING if self.unbilled else UNKNOWN


def http_failure(code: int, body: bytes, retry_after: float | None = None) -> Failure:
    """What an HTTP status other than 2xx means."""
    message = f"HTTP {code}: {error_text(body)}"

    def failure(status: Status, message: str = message, **more: Any) -> Failure:
        return Failure(status, message, code, unbilled=True, **more)

    if 300 <= code < 400:
        address = "the address redirects elsewhere, which is not followed; set base_url to the right one"
        return failure(Status.PROVIDER_ERROR, f"HTTP {code}: {address}", fatal=True)
    if NO_MONEY.search(message) and code in (400, 402, 403, 429):
        return failure(Status.PROVIDER_ERROR, fatal=True)
    # llama.cpp's server says with a 500 that a prompt does not fit.
    if code == 413 or (code in (400, 422, 500) and TOO_LONG.search(message)):
        return failure(Status.CONTEXT_OVERFLOW)
    if code in (400, 403, 422) and FILTERED.search(message):
        return failure(Status.FILTERED)
    if code in WORTH_A_RETRY:
        return failure(Status.PROVIDER_ERROR, retry=True, slow_down=code in SLOW_DOWN, retry_after=retry_after)
    return failure(Status.PROVIDER_ERROR, fatal=code in (401, 402, 404))


def network_failure(kind: str, error: BaseException, *, unbilled: bool = False) -> Failure:
    """A time-out, a refused or broken connection, a reply that is not JSON."""
    detail = _line(str(error))
    return Failure(Status.PROVIDER_ERROR, f"{kind}: {detail or type(error).__name__}", retry=True, unbilled=unbilled)


def openai_status(words: Words, reasoning_tokens: int | None) -> tuple[Status, str | None]:
    """Status of a chat completion, and why when it is not ok."""
    if words.refusal:
        return Status.REFUSED, _line(words.refusal)
    if words.finish == "content_filter":
        return Status.FILTERED, "the provider's content filter stopped the reply"
    if words.finish == "length":
        return _cut_off(words, reasoning_tokens)
    return _said_something(words)


def anthropic_status(words: Words, thinking_tokens: int | None) -> tuple[Status, str | None]:
    """Status of a message, and why when it is not ok."""
    if words.finish == "refusal":
        return Status.REFUSED, "the model refused"
    if words.finish == "model_context_window_exceeded":
        return Status.CONTEXT_OVERFLOW, "the reply ran into the end of the context"
    if words.finish == "max_tokens":
        return _cut_off(words, thinking_tokens)
    return _said_something(words)


def _said_something(words: Words) -> tuple[Status, str | None]:
    if words.tool_calls or words.text.strip():
        return Status.OK, None
    return Status.EMPTY, f"no text (finish reason {words.finish})"


def _cut_off(words: Words, reasoning_tokens: int | None) -> tuple[Status, str]:
    if words.text.strip():
        return Status.TRUNCATED, "the reply reached the token limit"
    spent = f", {reasoning_tokens} of them for reasoning" if reasoning_tokens else ""
    return Status.EMPTY, f"the token limit was spent without text{spent}"


def error_text(body: bytes) -> str:
    """The provider's message in one line: `error.message`, with its code and type, or the body's beginning."""
    try:
        document: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = body.decode("utf-8", "replace")
    if isinstance(document, list) and document:
        document = document[0]
    error = document.get("error", document) if isinstance(document, Mapping) else document
    if isinstance(error, Mapping):
        parts = [str(error[key]) for key in ("code", "type", "message") if error.get(key) not in (None, "")]
        error = " ".join(parts) or written(error).decode()
    return _line(str(error))


def _line(text: str) -> str:
    """One line without what acts on a terminal: control characters, and those that reorder or hide what is there."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:LONGEST_MESSAGE]


def error_inside(document: Mapping[str, Any], body: bytes) -> Failure | None:
    """Some gateways answer 200 with an error inside: that error, or None."""
    error = document.get("error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    return http_failure(code if isinstance(code, int) and 400 <= code < 600 else 500, body)
