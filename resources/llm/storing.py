"""How attempts and texts become rows and come back."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import zstandard
from sqlalchemy import Connection, and_, select

from resources.llm.records import Attempt, Stored
from resources.llm.schema import attempts, requests, texts
from resources.llm.usage import Usage
from resources.outcomes import Status

T = TypeVar("T")
# Failures of ours and the provider's are asked again, so they are no final answers.
FINAL = tuple(status.value for status in Status if status.is_scored)
# Well below either database's limit on values in one statement.
MOST_AT_ONCE = 1_000
_USAGE = ("prompt_tokens", "cached_tokens", "cache_write_tokens", "completion_tokens", "reasoning_tokens")
_PLAIN = (
    "started_at",
    "finished_at",
    "http_status",
    "transport",
    "cost_usd",
    "price_since",
    "first_token_seconds",
)
_FROM_PROVIDER = ("error", "provider_request_id", "served_model", "fingerprint")


class _Zstandard(threading.local):
    """Making one costs more than using it on a short text; none may be used by two threads at once."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=3).compress
        self.decompress = zstandard.ZstdDecompressor().decompress


_zstandard = _Zstandard()


def compress(data: bytes) -> bytes:
    """`data` as zstd."""
    return _zstandard.compress(data)


def decompress(data: bytes) -> bytes:
    """What `compress` was given."""
    return _zstandard.decompress(data)


def attempt_row(request_hash: str, number: int, run: str, attempt: Attempt) -> dict[str, Any]:
    """The row of a try."""
    row: dict[str, Any] = {name: getattr(attempt, name) for name in _PLAIN}
    row.update((name, _storable(getattr(attempt, name))) for name in _FROM_PROVIDER)
    row.update((name, getattr(attempt.usage, name)) for name in _USAGE)
    response = None if attempt.response is None else compress(attempt.response)
    row.update(request_hash=request_hash, number=number, run=run, status=attempt.status.value, response=response)
    return row


def stored(connection: Connection, hashes: Sequence[str]) -> Iterator[tuple[str, Stored]]:
    """Final outcomes of at most MOST_AT_ONCE requests."""
    answered = and_(attempts.c.request_hash == requests.c.hash, attempts.c.number == requests.c.answer)
    query = (
        select(requests.c.hash, requests.c.attempts.label("tries"), *_ATTEMPT_COLUMNS)
        .join_from(requests, attempts, answered)
        .where(requests.c.hash.in_(hashes), requests.c.status.in_(FINAL))
    )
    for row in connection.execute(query).all():
        attempt = _attempt(row[2:])
        yield row[0], Stored(attempt.status, attempt, row[1])


def load_texts(connection: Connection, hashes: Iterable[str]) -> dict[str, str]:
    """Texts by their content hash."""
    found: dict[str, str] = {}
    for part in parts(hashes):
        for row in connection.execute(select(texts.c.hash, texts.c.content).where(texts.c.hash.in_(part))):
            found[row.hash] = decompress(row.content).decode("utf-8", "surrogatepass")
    return found


def text_row(digest: str, text: str) -> dict[str, Any]:
    """The row of a text."""
    data = text.encode("utf-8", "surrogatepass")
    return {"hash": digest, "size": len(data), "content": compress(data)}


def parts(items: Iterable[T], size: int = MOST_AT_ONCE) -> Iterator[list[T]]:
    """`items` in lists of at most `size`."""
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part


# In the order of Attempt's fields, the usage at the end: resuming reads tens of thousands of these.
_BEFORE_USAGE = ("started_at", "finished_at", "status", "error", "http_status", "transport", "response")
_AFTER_USAGE = (
    "cost_usd",
    "price_since",
    "first_token_seconds",
    "provider_request_id",
    "served_model",
    "fingerprint",
)
_ATTEMPT_COLUMNS = [attempts.c[name] for name in (*_BEFORE_USAGE, *_AFTER_USAGE, *_USAGE)]
_STATUSES = {status.value: status for status in Status}


def _attempt(columns: Sequence[Any]) -> Attempt:
    started_at, finished_at, status, error, http_status, transport, response, *rest = columns
    return Attempt(
        started_at,
        finished_at,
        _STATUSES[status],
        error,
        http_status,
        transport,
        None if response is None else decompress(response),
        Usage(*rest[len(_AFTER_USAGE) :]),
        *rest[: len(_AFTER_USAGE)],
    )


def _storable(text: str | None) -> str | None:
    """PostgreSQL takes neither NUL nor half a surrogate pair."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
