"""One try: a request goes out through the official client, and what comes back is a reply or a failure, never more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
import httpx2

from resources.llm.answer import Reply
from resources.llm.bodies import parse, written
from resources.llm.outcome import (
    Failure,
    error_inside,
    http_failure,
    network_failure,
)
from resources.llm.providers import Provider
from resources.llm.providers.connection import MOST_BYTES, BodyTooLong
from resources.llm.retry import exhausted_for, retry_after
from resources.llm.secrets import Redactor
from resources.model_entry import ModelEntry
from resources.outcomes import Status

# Of an error's body; a reply is kept whole.
LONGEST_ERROR_BODY = 65_536
_HEADERS = {"headers": {"Content-Type": "application/json"}}


@dataclass(frozen=True, slots=True)
class Sent:
    """What one try brought: `reply` or `failure`, and everything worth keeping. Times are seconds since 1970."""

    started_at: float
    finished_at: float
    reply: Reply | None = None
    failure: Failure | None = None
    body: bytes | None = None
    http_status: int | None = None
    first_token_seconds: float | None = None
    request_id: str | None = None
    exhausted_for: float | None = None


class Sender:
    """The connection to one model's endpoint; used as an asynchronous context."""

    def __init__(
        self, entry: ModelEntry, provider: Provider, key: str | None, redactor: Redactor, try_seconds: float
    ) -> None:
        self._provider, self._redactor, self._try_seconds = provider, redactor, try_seconds
        self._client = provider.client(entry, key, entry.max_concurrency, MOST_BYTES)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._client.close()

    async def send(self, content: bytes, stream: bool) -> Sent:
        """Send a body. Only being cancelled is raised."""
        started = time.time()
        response: httpx2.Response | None = None
        try:
            try:
                async with asyncio.timeout(self._try_seconds):
                    response = await self._client.post(
                        self._provider.path,
                        cast_to=httpx2.Response,
                        content=content,
                        options=_HEADERS,
                        stream=stream,
                        **({"stream_cls": self._provider.stream_class} if stream else {}),
                    )
                    assert response is not None
                    if not stream:
                        return self._whole(started, response)
                    return await self._streamed(started, response)
            except self._provider.errors.any as error:
                # The kits' error for an event inside a stream may have no response of its own.
                theirs = getattr(error, "response", None) or response
                if self._is_network(error) or theirs is None:
                    raise
                return self._error(started, theirs, getattr(error, "body", None))
        except Exception as error:  # of whatever kind: it is this request's, and the others go on
            finished = time.time()
            status = response.status_code if response is not None else None
            failure = self._failure(error, finished - started, "client" if response is None else "malformed reply")
            return Sent(started, finished, failure=failure, http_status=status)
        finally:
            if stream and response is not None:
                with suppress(Exception):
                    await response.aclose()

    def _is_network(self, error: BaseException) -> bool:
        return isinstance(error, (self._provider.errors.timeout, self._provider.errors.connection))

    def _failure(self, error: BaseException, seconds: float, otherwise: str) -> Failure:
        causes = list(_causes(error))
        root = causes[-1]
        if isinstance(root, BodyTooLong):
            return Failure(Status.PROVIDER_ERROR, f"malformed reply: {root}")
        # The kits call a refused connection a time-out.
        if any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes):
            return network_failure("connection", root, unbilled=True)
        if isinstance(error, (self._provider.errors.timeout, TimeoutError)):
            unbilled = any(isinstance(cause, aiohttp.ConnectionTimeoutError) for cause in causes)
            said = TimeoutError("the reply was not complete") if isinstance(root, asyncio.CancelledError) else root
            return network_failure(f"time-out after {round(seconds, 1):g} s", said, unbilled=unbilled)
        if self._is_network(error) or isinstance(error, httpx2.HTTPError | aiohttp.ClientError | OSError):
            return network_failure("connection", root)
        return network_failure(otherwise, error)

    def _whole(self, started: float, response: httpx2.Response) -> Sent:
        finished = time.time()
        body = self._redactor.bytes(response.content)
        common = {**self._from_headers(response, finished), "http_status": response.status_code}
        try:
            document = parse(body)
            if isinstance(document, dict) and (failure := error_inside(document, body)):
                return Sent(started, finished, failure=failure, body=body[:LONGEST_ERROR_BODY], **common)
            return Sent(started, finished, self._provider.read(document), body=body, **common)
        except Exception as error:  # whatever reading something unforeseen raises
            failure = network_failure("malformed reply", error)
            return Sent(started, finished, failure=failure, body=body[:LONGEST_ERROR_BODY], **common)

    async def _streamed(self, started: float, response: httpx2.Response) -> Sent:
        assembler = self._provider.assembler()
        first: float | None = None
        stream = self._provider.stream_class(cast_to=object, response=response, client=self._client)
        async for event in stream:
            assembler.add(event)
            if first is None and assembler.has_begun:
                first = time.time() - started
        finished = time.time()
        body = self._redactor.bytes(written(assembler.body()))
        return Sent(
            started,
            finished,
            self._provider.read(parse(body)),
            body=body,
            http_status=response.status_code,
            first_token_seconds=first,
            **self._from_headers(response, finished),
        )

    def _error(self, started: float, response: httpx2.Response, detail: object) -> Sent:
        """An HTTP error, or an error event inside a stream, whose HTTP status says that all is well."""
        finished = time.time()
        code, body = response.status_code, b""
        if response.is_success:
            code, body = self._provider.code_of(detail), written({"error": detail})
        else:
            body = response.content
        body = self._redactor.bytes(body)[:LONGEST_ERROR_BODY]
        failure = http_failure(code, body, retry_after(response.headers, finished))
        common = self._from_headers(response, finished)
        return Sent(started, finished, failure=failure, body=body, http_status=response.status_code, **common)

    def _from_headers(self, response: httpx2.Response, now: float) -> dict[str, Any]:
        headers = response.headers
        name = headers.get("x-request-id") or headers.get("request-id")
        return {
            "request_id": None if name is None else self._redactor.text(name),
            "exhausted_for": exhausted_for(headers, now),
        }


def _causes(error: BaseException) -> Iterator[BaseException]:
    """`error` and what it was made from, at last the one that says most: the kits' own say little."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
