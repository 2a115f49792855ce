"""A language-model server that speaks OpenAI's and Anthropic's interfaces and fails as it is told to.

What happens to a request is written in its prompt: `[fault:NAME]` or `[fault:NAME*N]` for the first N tries of that
prompt, after which it is answered. Without a fault the reply is `answer to <first word>`, after `latency` seconds.
Everything that was asked is kept in `Log`, and, where a file is given, appended there line by line, so that it outlives
a killed client. Run it in a thread with `running`, or as a process: `python -m tests.servers.faulty PORT [LOGFILE]`.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TextIO

from aiohttp import web

FAULT = re.compile(r"\[fault:([a-z0-9_]+)(?:\*(\d+))?\]")
NEVER = 10.0


@dataclass
class Log:
    """What the server saw: prompts with the time they came, how it answered them, and the headers and bodies."""

    asked: list[tuple[float, str]] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)


class FaultyServer:
    """The application; `per_second` answers more than so many requests in any second with 429."""

    def __init__(
        self, latency: float = 0.0, per_second: int | None = None, retry_after: bool = True, file: TextIO | None = None
    ) -> None:
        self.log = Log()
        self.latency, self.per_second, self.retry_after, self.file = latency, per_second, retry_after, file
        self.moved_to = "http://127.0.0.1:9/elsewhere"
        self._tries: Counter[str] = Counter()
        self._recent: list[float] = []

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/chat/completions", self._openai)
        app.router.add_post("/v1/messages", self._anthropic)
        app.router.add_post("/moved/chat/completions", self._moved)
        app.router.add_get("/log", self._show_log)
        return app

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, OpenAIForm())

    async def _anthropic(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, AnthropicForm())

    async def _moved(self, request: web.Request) -> web.StreamResponse:
        self.log.headers.append(dict(request.headers))
        raise web.HTTPTemporaryRedirect(self.moved_to)

    async def _show_log(self, _request: web.Request) -> web.Response:
        return web.json_response({"asked": self.log.asked, "answered": dict(self.log.answered)})

    async def _serve(self, request: web.Request, form: Form) -> web.StreamResponse:
        body = await request.json()
        prompt = form.prompt(body)
        self.log.asked.append((time.time(), prompt))
        self.log.headers.append(dict(request.headers))
        self.log.bodies.append(body)
        self._tries[prompt] += 1
        if self._is_too_fast():
            return self._count(self._error(form, 429, "rate_limit_exceeded", "too fast", self.retry_after))
        found = FAULT.search(prompt)
        if found and (found[2] is None or self._tries[prompt] <= int(found[2])):
            response = await getattr(self, f"_{found[1]}")(request, body, form)
            return self._count(response)
        await asyncio.sleep(self.latency)
        response = await form.reply(request, body, f"answer to {prompt.split()[0]}")
        self.log.answered[prompt] += 1
        if self.file is not None:
            self.file.write(json.dumps(prompt) + "\n")
            self.file.flush()
        return self._count(response)

    def _is_too_fast(self) -> bool:
        if self.per_second is None:
            return False
        now = time.monotonic()
        self._recent = [moment for moment in self._recent if now - moment < 1.0]
        if len(self._recent) >= self.per_second:
            return True
        self._recent.append(now)
        return False

    def _count(self, response: web.StreamResponse) -> web.StreamResponse:
        self.log.statuses[response.status] += 1
        return response

    @staticmethod
    def _error(form: Form, status: int, kind: str, message: str, retry_after: bool = False) -> web.Response:
        headers = {"Retry-After": "1"} if retry_after else {}
        return web.json_response(form.error(kind, message), status=status, headers=headers)

    # The faults. Each is named in a prompt.

    async def _rate_limited(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return self._error(form, 429, "rate_limit_error", "slow down")

    async def _rate_limited_with_advice(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return self._error(form, 429, "rate_limit_error", "slow down", retry_after=True)

    async def _insane_advice(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return web.json_response(
            form.error("server_error", "later"),
            status=503,
            headers={"Retry-After": "4294967295", "Retry-After-Ms": "1"},
        )

    async def _server_error(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return self._error(form, 500, "server_error", "it broke")

    async def _overloaded(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return self._error(form, 529, "overloaded_error", "overloaded")

    async def _bad_gateway(self, _request: web.Request, _body: Any, _form: Form) -> web.Response:
        return web.Response(status=502, text="<html>502 Bad Gateway</html>", content_type="text/html")

    async def _slow(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        await asyncio.sleep(NEVER)
        return self._error(form, 500, "server_error", "nobody waited for this")

    async def _reset(self, request: web.Request, _body: Any, _form: Form) -> web.StreamResponse:
        """The connection breaks in the middle of the reply."""
        response = web.StreamResponse(headers={"Content-Length": "5000", "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"id": "half')
        assert request.transport is not None
        request.transport.abort()
        return response

    async def _reset_in_stream(self, request: web.Request, _body: Any, form: Form) -> web.StreamResponse:
        return await form.broken_stream(request)

    async def _error_in_stream(self, request: web.Request, _body: Any, form: Form) -> web.StreamResponse:
        return await form.error_stream(request)

    async def _malformed(self, _request: web.Request, _body: Any, _form: Form) -> web.Response:
        return web.Response(text='{"choices": [{"mess', content_type="application/json")

    async def _wrong_shape(self, _request: web.Request, _body: Any, _form: Form) -> web.Response:
        return web.json_response({"choices": [], "content": "no list"})

    async def _error_with_200(self, _request: web.Request, _body: Any, _form: Form) -> web.Response:
        return web.json_response({"error": {"code": 503, "message": "upstream is down"}})

    async def _empty(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(request, body, "")

    async def _spent_on_reasoning(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(request, body, "", finish="length", reasoning=15)

    async def _refusal(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(request, body, "", finish="refusal")

    async def _filtered(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.filtered(request, body)

    async def _length(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(request, body, "half an ans", finish="length")

    async def _context(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return form.too_long()

    async def _wrong_usage(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(
            request, body, "answer to wrong usage", usage={"prompt_tokens": -5, "input_tokens": "x"}
        )

    async def _no_usage(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(request, body, "answer to no usage", usage=None)

    async def _surrogate(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(request, body, "half a pair \ud83d")

    async def _bad_key(self, request: web.Request, _body: Any, form: Form) -> web.Response:
        """Some servers repeat the key that they do not like."""
        key = request.headers.get("Authorization") or request.headers.get("X-Api-Key")
        return self._error(form, 401, "authentication_error", f"Incorrect API key provided: {key}")

    async def _echo_key(self, request: web.Request, body: Any, form: Form) -> web.StreamResponse:
        return await form.reply(request, body, f"your headers were {dict(request.headers)}")

    async def _no_quota(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return self._error(form, 429, "insufficient_quota", "You exceeded your current quota")

    async def _unprocessable(self, _request: web.Request, _body: Any, form: Form) -> web.Response:
        return self._error(form, 400, "invalid_request_error", "Unsupported parameter: 'frobnicate'")


class Form:
    """What differs between the two interfaces."""

    usage: ClassVar[dict[str, Any]]

    def prompt(self, body: dict[str, Any]) -> str:
        """The last user message's text."""
        content: str = body["messages"][-1]["content"]
        return content

    def error(self, kind: str, message: str) -> dict[str, Any]:
        """An error's body."""
        raise NotImplementedError

    def too_long(self) -> web.Response:
        """A prompt that does not fit."""
        raise NotImplementedError

    def document(self, text: str, finish: str, usage: Any) -> dict[str, Any]:
        """A whole reply."""
        raise NotImplementedError

    def events(self, text: str, finish: str, usage: Any) -> list[tuple[str | None, Any]]:
        """The same as a stream."""
        raise NotImplementedError

    def spent(self, reasoning: int) -> dict[str, Any]:
        """Usage with reasoning."""
        raise NotImplementedError

    async def reply(
        self, request: web.Request, body: Any, text: str, finish: str = "stop", reasoning: int = 0, usage: Any = ()
    ) -> web.StreamResponse:
        """The reply, streamed if that was asked for."""
        used = self.spent(reasoning) if usage == () else usage
        if not body.get("stream"):
            return web.json_response(self.document(text, finish, used), headers={"x-request-id": "request-1"})
        response = await self._begin(request)
        for name, event in self.events(text, finish, used):
            await self._send(response, name, event)
        await response.write_eof()
        return response

    async def broken_stream(self, request: web.Request) -> web.StreamResponse:
        """A stream whose connection breaks before its end."""
        response = await self._begin(request)
        events = self.events("this will never be finished", "stop", self.usage)
        for name, event in events[:3]:
            await self._send(response, name, event)
        assert request.transport is not None
        request.transport.abort()
        return response

    async def error_stream(self, request: web.Request) -> web.StreamResponse:
        """A stream with an error event."""
        response = await self._begin(request)
        for name, event in self.events("this will never be finished", "stop", self.usage)[:3]:
            await self._send(response, name, event)
        await self._send(response, "error", self.error("overloaded_error", "overloaded in the middle"))
        await response.write_eof()
        return response

    async def filtered(self, request: web.Request, body: Any) -> web.StreamResponse:
        """What a content filter does."""
        return await self.reply(request, body, "", finish="content_filter")

    @staticmethod
    async def _begin(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "x-request-id": "request-1"})
        await response.prepare(request)
        return response

    @staticmethod
    async def _send(response: web.StreamResponse, name: str | None, event: Any) -> None:
        head = "" if name is None else f"event: {name}\n"
        data = event if isinstance(event, str) else json.dumps(event)
        await response.write(f"{head}data: {data}\n\n".encode())


class OpenAIForm(Form):
    """Chat completions."""

    usage: ClassVar = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}

    def error(self, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": kind, "code": kind}}

    def too_long(self) -> web.Response:
        message = "This model's maximum context length is 8192 tokens. Please reduce the length of the messages."
        return web.json_response(self.error("context_length_exceeded", message), status=400)

    def spent(self, reasoning: int) -> dict[str, Any]:
        return {
            **self.usage,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }

    def document(self, text: str, finish: str, usage: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if finish == "refusal":
            message["refusal"], finish = "I cannot help with that", "stop"
        choice = {"index": 0, "finish_reason": finish, "message": message}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "served-model",
            "system_fingerprint": "fp_1",
            "choices": [choice],
            "usage": usage,
        }

    def events(self, text: str, finish: str, usage: Any) -> list[tuple[str | None, Any]]:
        common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "served-model"}
        common["system_fingerprint"] = "fp_1"
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        if finish == "refusal":
            deltas, finish = [*deltas, {"refusal": "I cannot help with that"}], "stop"
        deltas += [{"content": piece} for piece in re.findall(r"\S+\s*", text)]
        chunks: list[Any] = [
            {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        chunks.append({**common, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        chunks.append({**common, "choices": [], "usage": usage})
        return [(None, chunk) for chunk in (*chunks, "[DONE]")]


class AnthropicForm(Form):
    """Messages."""

    usage: ClassVar = {"input_tokens": 60, "output_tokens": 20}
    stops: ClassVar = {"stop": "end_turn", "length": "max_tokens"}

    def error(self, kind: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": kind, "message": message}}

    def too_long(self) -> web.Response:
        message = "prompt is too long: 250000 tokens > 200000 maximum"
        return web.json_response(self.error("invalid_request_error", message), status=400)

    async def filtered(self, request: web.Request, body: Any) -> web.StreamResponse:  # noqa: ARG002
        message = "Output blocked by content filtering policy"
        return web.json_response(self.error("invalid_request_error", message), status=400)

    def spent(self, reasoning: int) -> dict[str, Any]:
        return {
            **self.usage,
            "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 0,
            "output_tokens_details": {"thinking_tokens": reasoning},
        }

    def document(self, text: str, finish: str, usage: Any) -> dict[str, Any]:
        content = [{"type": "text", "text": text}] if text else []
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "served-model",
            "content": content,
            "stop_reason": self.stops.get(finish, finish),
            "stop_sequence": None,
            "usage": usage,
        }

    def events(self, text: str, finish: str, usage: Any) -> list[tuple[str | None, Any]]:
        whole = self.document("", finish, {**(usage or {}), "output_tokens": 1} if usage else usage)
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {**whole, "stop_reason": None}}]
        if text:
            block = {"type": "text", "text": ""}
            events.append({"type": "content_block_start", "index": 0, "content_block": block})
            for piece in re.findall(r"\S+\s*", text):
                delta = {"type": "text_delta", "text": piece}
                events.append({"type": "content_block_delta", "index": 0, "delta": delta})
            events.append({"type": "content_block_stop", "index": 0})
        delta = {"stop_reason": self.stops.get(finish, finish), "stop_sequence": None}
        final = {key: value for key, value in (usage or {}).items() if key.startswith("output")}
        events += [{"type": "message_delta", "delta": delta, "usage": final}, {"type": "message_stop"}]
        return [(event["type"], event) for event in events]


class HasApp(Protocol):
    """Any of the test servers."""

    def app(self) -> web.Application:
        """The routes."""


@contextmanager
def running(server: HasApp) -> Iterator[str]:
    """The server in a thread of its own; gives `http://127.0.0.1:PORT`."""
    started = threading.Event()
    loop = asyncio.new_event_loop()
    address: list[str] = []

    async def start() -> web.AppRunner:
        runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        address.append(f"http://{host}:{port}")
        started.set()
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def main() -> None:
    """Serve until killed."""
    port, latency = int(sys.argv[1]), float(sys.argv[2])
    with Path(sys.argv[3]).open("a", encoding="utf-8") as file:
        web.run_app(FaultyServer(latency, file=file).app(), host="127.0.0.1", port=port, print=None, access_log=None)


if __name__ == "__main__":
    main()
