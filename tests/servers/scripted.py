"""A language-model server that speaks OpenAI's interface and plays fixed replies, for tests of agents.

A play is a list of turns; which turn a request gets is the number of replies that the request's own messages already
hold, so that a killed and repeated run meets the same play. Which play: the first whose key stands in the prompt.
Everything asked is kept in `bodies`. Texts to embed get a vector each that their content alone decides; they are kept
in `embedded`. Run it in a thread with `running`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import web

SILENCE = 3600.0


@dataclass(frozen=True)
class Turn:
    """One reply: text, and a script by a tool call (`arguments` overrides the call's raw arguments)."""

    text: str = ""
    call: str | None = None
    arguments: str | None = None
    finish: str | None = None
    tokens: int = 10

    def message(self, number: int) -> dict[str, Any]:
        """The assistant's message of the `number`th reply."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.call is not None or self.arguments is not None:
            arguments = json.dumps({"script": self.call}) if self.arguments is None else self.arguments
            function = {"name": "run_script", "arguments": arguments}
            message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
        return message


def fenced(script: str, words: str = "Let me try this.") -> Turn:
    """A reply with a script in a fenced block."""
    return Turn(f"{words}\n```python\n{script}\n```\n")


def called(script: str) -> Turn:
    """A reply that calls the tool with a script."""
    return Turn(call=script)


@dataclass
class ScriptedServer:
    """The application. A play that has come to its end repeats its last turn; `silent_from` never gets its reply.

    `silent_after` so many requests the server answers no more.
    """

    plays: Mapping[str, Sequence[Turn]]
    silent_from: int | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    silent_after: int | None = None
    embedded: list[list[str]] = field(default_factory=list)

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._reply)
        app.router.add_post("/v1/embeddings", self._embed)
        return app

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.embedded.append(body["input"])
        rows: list[dict[str, Any]] = []
        for place, text in enumerate(body["input"]):
            vector = vector_of(text)
            encoded = base64.b64encode(vector.tobytes()).decode()
            rows.append(
                {"index": place, "embedding": encoded if "base64" in body["encoding_format"] else vector.tolist()}
            )
        usage = {"prompt_tokens": 7 * len(rows), "total_tokens": 7 * len(rows)}
        # Their order is not promised.
        return web.json_response({"object": "list", "model": body["model"], "data": rows[::-1], "usage": usage})

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        if self.silent_after is not None and len(self.bodies) > self.silent_after:
            await asyncio.sleep(SILENCE)
        messages = body["messages"]
        prompt = str(messages[0]["content"])
        play = next((turns for key, turns in self.plays.items() if key in prompt), None)
        if play is None:
            return web.json_response({"error": {"message": "no play for this prompt"}}, status=400)
        number = sum(message["role"] == "assistant" for message in messages)
        if self.silent_from is not None and number >= self.silent_from:
            await asyncio.sleep(SILENCE)
        turn = play[min(number, len(play) - 1)]
        message = turn.message(number)
        finish = turn.finish or ("tool_calls" if "tool_calls" in message else "stop")
        return web.json_response(
            {
                "id": f"chatcmpl-{number}",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                "usage": {"prompt_tokens": 100, "completion_tokens": turn.tokens, "total_tokens": 100 + turn.tokens},
            }
        )


def vector_of(text: str) -> np.ndarray:
    """The server's vector of a text: 16 numbers from -1 to 1, float32."""
    digest = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u2")
    return (digest / 32767.5 - 1).astype("<f4")


@contextmanager
def running(server: ScriptedServer) -> Iterator[str]:
    """The server in a thread of its own; gives `http://127.0.0.1:PORT/v1`."""
    started = threading.Event()
    loop = asyncio.new_event_loop()
    address: list[str] = []

    async def start() -> web.AppRunner:
        runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.append(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
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
