"""One try: a request goes out through the official client, and what comes back is a reply or a failure, never more."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
import httpx2
import orjson

from resources.llm.answer import Reply
from resources.llm.outcome import (
    Failure,
    MalformedReply,
    error_inside,
    http_failure,
    network_failure,
)
from resources.llm.providers import Provider
from resources.llm.retry import exhausted_for, retry_after
from resources.llm.secrets import Redactor
from resources.model_entry import ModelEntry

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
        self._client = provider.client(entry, key, entry.max_concurrency)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._client.close()

    async def send(self, content: bytes, stream: bool) -> Sent:
        """Send a body. Only being cancelled is raised."""
        started = time.time()
        kinds = self._provider.errors
        response: httpx2.Response | None = None
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
        except (kinds.timeout, TimeoutError) as error:
            root = _root(error)
            unbilled = isinstance(root, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
            failure = network_failure("time-out", root, unbilled=unbilled)
        except (kinds.connection, httpx2.HTTPError, OSError) as error:
            root = _root(error)
            failure = network_failure("connection", root, unbilled=isinstance(root, aiohttp.ClientConnectorError))
        except kinds.any as error:
            # The kits' error for an event inside a stream may have no response of its own.
            if (theirs := getattr(error, "response", None) or response) is not None:
                return self._error(started, theirs, getattr(error, "body", None))
            failure = network_failure("client", error)
        except (MalformedReply, ValueError, KeyError, TypeError, AttributeError) as error:
            failure = network_failure("malformed reply", error)
        finally:
            if stream and response is not None:
                await response.aclose()
        status = response.status_code if response is not None else None
        return Sent(started, time.time(), failure=failure, http_status=status)

    def _whole(self, started: float, response: httpx2.Response) -> Sent:
        finished = time.time()
        body = self._redactor.bytes(response.content)
        common = {**_from_headers(response, finished), "http_status": response.status_code}
        try:
            document = parse(body)
            if isinstance(document, dict) and (failure := error_inside(document, body)):
                return Sent(started, finished, failure=failure, body=body[:LONGEST_ERROR_BODY], **common)
            return Sent(started, finished, self._provider.read(document), body=body, **common)
        except (MalformedReply, ValueError, KeyError, TypeError, AttributeError) as error:
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
        body = self._redactor.bytes(orjson.dumps(assembler.body()))
        return Sent(
            started,
            finished,
            self._provider.read(orjson.loads(body)),
            body=body,
            http_status=response.status_code,
            first_token_seconds=first,
            **_from_headers(response, finished),
        )

    def _error(self, started: float, response: httpx2.Response, detail: object) -> Sent:
        """An HTTP error, or an error event inside a stream, whose HTTP status says that all is well."""
        finished = time.time()
        code, body = response.status_code, b""
        if response.is_success:
            code, body = self._provider.code_of(detail), orjson.dumps({"error": detail}, default=str)
        else:
            body = response.content
        body = self._redactor.bytes(body)[:LONGEST_ERROR_BODY]
        failure = http_failure(code, body, retry_after(response.headers, finished))
        common = _from_headers(response, finished)
        return Sent(started, finished, failure=failure, body=body, http_status=response.status_code, **common)


def parse(body: bytes) -> Any:
    """JSON, also such as holds half a surrogate pair, which models write now and then. Raises ValueError."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        text = json.dumps(json.loads(body.decode("utf-8", "replace")), ensure_ascii=False)
        return json.loads(text.encode("utf-8", "replace"))


def _from_headers(response: httpx2.Response, now: float) -> dict[str, Any]:
    headers = response.headers
    return {
        "request_id": headers.get("x-request-id") or headers.get("request-id"),
        "exhausted_for": exhausted_for(headers, now),
    }


def _root(error: BaseException) -> BaseException:
    """The error that the kits' own, which say little, was made from."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error
