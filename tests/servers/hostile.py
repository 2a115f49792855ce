"""The faulty server with replies that no provider means well: each is a fault of `faulty.FaultyServer`."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.servers.faulty import FaultyServer, Form

DEEP = "[" * 100_000 + "]" * 100_000
NESTED = "[" * 500 + "]" * 500
LONG_NUMBER = "1" * 30
BIG = 3_000_000
PLACE = "@@"
KINDS: dict[str, Any] = {"mapping": {"a": 1}, "list": ["stop"], "bool": True, "number": 10**30}
"""What a finish reason can be instead of a text."""


class HostileServer(FaultyServer):
    """Its faults are the methods below."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, kind in KINDS.items():
            setattr(self, f"_finish_{name}", self._finish_of(kind))

    def _finish_of(self, finish: Any) -> Callable[..., Any]:
        async def reply(request: web.Request, body: Any, form: Form) -> web.StreamResponse:
            return await self._sent(request, body, form, "answer", "stop", lambda text: text, finish)

        return reply

    async def _sent(
        self,
        request: web.Request,
        body: Any,
        form: Form,
        text: str,
        finish: str,
        change: Callable[[str], str],
        instead: Any = None,
    ) -> web.StreamResponse:
        """The reply with `change` made to each piece of JSON, and `instead` for its finish reason."""
        usage = form.usage

        def piece(value: Any) -> str:
            return change(json.dumps(_finishing(value, instead) if instead is not None else value))

        if not body.get("stream"):
            return web.Response(
                body=piece(form.document(text, finish, usage)).encode(), content_type="application/json"
            )
        response = await form._begin(request)
        for name, event in form.events(text, finish, usage):
            await form._send(response, name, event if isinstance(event, str) else piece(event))
        await response.write_eof()
        return response

    async def _deep_body(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await self._sent(request, body, form, PLACE, "stop", lambda text: text.replace(f'"{PLACE}"', DEEP))

    async def _deep_error(self, _request: web.Request, _body: Any, _form: Form) -> web.Response:
        return web.Response(text=f'{{"error": {DEEP}}}', content_type="application/json")

    async def _deep_refusal(self, _request: web.Request, _body: Any, _form: Form) -> web.Response:
        return web.Response(text=f'{{"error": {DEEP}}}', content_type="application/json", status=400)

    async def _lines_of_refusal(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        lines = "no\\u001b[2J\\n```\\n![x](http://evil.example/beacon.png)"
        return await self._sent(request, body, form, "", "refusal", lambda text: text.replace("I cannot help", lines))

    async def _status_line(self, request: web.Request, _body: Any, _form: Form) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.write(b"\x00\xff nonsense\r\n\r\n")
        request.transport.close()
        return web.Response()

    async def _long_header(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        del request, body
        return web.json_response(form.document("answer", "stop", None), headers={"x-request-id": "A" * 60_000})

    async def _tool_calls_number(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        document = form.document("answer", "stop", None)
        if "choices" in document:
            document["choices"][0]["message"]["tool_calls"] = 7
        else:
            document["content"].append({"type": "tool_use", "id": {}, "name": 7, "input": 7})
        return web.json_response(document)

    async def _partial_content(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return web.json_response(form.document("answer", "stop", None), status=206)

    async def _marked(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        """With a byte order mark."""
        content = b"\xef\xbb\xbf" + json.dumps(form.document("answer", "stop", None)).encode()
        return web.Response(body=content, content_type="application/json")

    async def _escaped_key(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        key = (request.headers.get("Authorization") or request.headers["X-Api-Key"]).split()[-1]
        escaped = "".join(f"\\u{ord(letter):04X}" for letter in key[:-3]) + key[-3:]
        return await self._sent(request, body, form, PLACE, "stop", lambda text: text.replace(PLACE, escaped))

    async def _bomb(self, _request: web.Request, body: Any, _form: Form) -> web.Response:
        kind = "text/event-stream" if body.get("stream") else "application/json"
        packed = gzip.compress(b" " * BIG)
        return web.Response(body=packed, content_type=kind, headers={"Content-Encoding": "gzip"})

    async def _bomb_of_errors(self, _request: web.Request, _body: Any, _form: Form) -> web.Response:
        return web.Response(body=gzip.compress(b" " * BIG), status=400, headers={"Content-Encoding": "gzip"})

    async def _endless(self, request: web.Request, _body: Any, form: Form) -> web.StreamResponse:
        response = await form._begin(request)
        while request.transport is not None and not request.transport.is_closing():
            await response.write(b"A" * 60_000)
            await asyncio.sleep(0)
        return response

    async def _half(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await self._sent(request, body, form, "\ud83d alone", "stop", lambda text: text)

    async def _pair(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        """A character whose halves come in two events."""

        def halves(text: str) -> str:
            return text.replace("first ", "\\ud83d").replace("second", "\\ude00 whole")

        return await self._sent(request, body, form, "first second", "stop", halves)

    async def _odd_error_number(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await self._odd_error(request, body, form, LONG_NUMBER)

    async def _odd_error_half(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await self._odd_error(request, body, form, '"\\ud83d"')

    async def _odd_error_nested(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await self._odd_error(request, body, form, NESTED)

    async def _odd_error_deep(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await self._odd_error(request, body, form, DEEP)

    async def _odd_error(self, request: web.Request, _body: Any, form: Form, value: str) -> web.StreamResponse:
        response = await form._begin(request)
        event = form.error("overloaded_error", "odd")
        event["error"]["more"] = PLACE
        await form._send(response, "error", json.dumps(event).replace(f'"{PLACE}"', value))
        await response.write_eof()
        return response


def _finishing(value: Any, finish: Any) -> Any:
    """`value` with every finish reason that it states replaced."""
    if isinstance(value, dict):
        return {
            key: finish
            if key in ("finish_reason", "stop_reason") and isinstance(item, str)
            else _finishing(item, finish)
            for key, item in value.items()
        }
    return [_finishing(item, finish) for item in value] if isinstance(value, list) else value
