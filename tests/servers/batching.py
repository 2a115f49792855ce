"""The batch endpoints of both interfaces: replies are ready when `finish` is called; prompts name faults."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.servers.faulty import AnthropicForm, OpenAIForm


class BatchServer:
    """Keeps files and batches. While `lose` is set a batch is taken but the client never hears of it; while `drop` is
    set it is not even taken. Lines of `stray` are among each batch's results.
    """

    def __init__(self, stray: Sequence[bytes] = ()) -> None:
        self._stray = stray
        self.batches: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.lines: list[dict[str, Any]] = []
        self.lose = self.drop = False
        self._ended = False

    def finish(self) -> None:
        """All batches are done."""
        self._ended = True

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._download)
        app.router.add_post("/v1/batches", self._openai_create)
        app.router.add_get("/v1/batches", self._openai_list)
        app.router.add_get("/v1/batches/{id}", self._openai_show)
        app.router.add_post("/v1/messages/batches", self._anthropic_create)
        app.router.add_get("/v1/messages/batches", self._anthropic_list)
        app.router.add_get("/v1/messages/batches/{id}", self._anthropic_show)
        app.router.add_get("/v1/messages/batches/{id}/results", self._anthropic_results)
        return app

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        field = form["file"]
        assert isinstance(field, web.FileField)
        name = f"file-{len(self.files)}"
        self.files[name] = field.file.read()
        return web.json_response({"id": name, "object": "file"})

    async def _download(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["id"]])

    async def _openai_create(self, request: web.Request) -> web.Response:
        if self.drop:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        wanted = await request.json()
        name = f"batch_{len(self.batches)}"
        lines = [json.loads(line) for line in self.files[wanted["input_file_id"]].splitlines()]
        self.lines += lines
        self.batches[name] = {
            "id": name,
            "metadata": wanted["metadata"],
            "created_at": int(time.time()),
            "lines": lines,
        }
        return self._answer(request, self._openai_batch(name))

    async def _openai_list(self, _request: web.Request) -> web.Response:
        data = [self._openai_batch(name) for name in reversed(self.batches)]
        return web.json_response({"object": "list", "data": data, "has_more": False})

    async def _openai_show(self, request: web.Request) -> web.Response:
        return web.json_response(self._openai_batch(request.match_info["id"]))

    def _openai_batch(self, name: str) -> dict[str, Any]:
        batch = {key: value for key, value in self.batches[name].items() if key != "lines"}
        batch |= {"object": "batch", "status": "in_progress", "endpoint": "/v1/chat/completions"}
        batch |= {"completion_window": "24h", "input_file_id": "file-0", "output_file_id": None, "error_file_id": None}
        if self._ended:
            batch |= {"status": "completed", "output_file_id": f"out-{name}", "error_file_id": f"err-{name}"}
            replies, errors = [], []
            for line in self.batches[name]["lines"]:
                prompt = line["body"]["messages"][-1]["content"]
                form = OpenAIForm()
                if "[fault:server_error]" in prompt:
                    response = {"status_code": 500, "body": form.error("server_error", "it broke")}
                    errors.append({"custom_id": line["custom_id"], "response": response, "error": None})
                elif "[fault:expired]" in prompt:
                    error = {"code": "batch_expired", "message": "not in time"}
                    errors.append({"custom_id": line["custom_id"], "response": None, "error": error})
                else:
                    body = form.document(f"answer to {prompt.split()[0]}", "stop", form.spent(0))
                    response = {"status_code": 200, "body": body}
                    replies.append({"custom_id": line["custom_id"], "response": response, "error": None})
            for file, rows in ((f"out-{name}", replies), (f"err-{name}", errors)):
                self.files[file] = self._lines(rows)
        return batch

    async def _anthropic_create(self, request: web.Request) -> web.Response:
        wanted = await request.json()
        name = f"msgbatch_{len(self.batches)}"
        self.lines += wanted["requests"]
        self.batches[name] = {"created": time.time(), "lines": wanted["requests"]}
        return self._answer(request, self._anthropic_batch(name))

    async def _anthropic_list(self, _request: web.Request) -> web.Response:
        data = [self._anthropic_batch(name) for name in reversed(self.batches)]
        return web.json_response({"data": data, "has_more": False, "first_id": None, "last_id": None})

    async def _anthropic_show(self, request: web.Request) -> web.Response:
        return web.json_response(self._anthropic_batch(request.match_info["id"]))

    def _anthropic_batch(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        counts = {"processing": len(batch["lines"]), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if self._ended else "in_progress",
            "request_counts": counts,
            "created_at": datetime.fromtimestamp(batch["created"], UTC).isoformat(),
            "expires_at": datetime.fromtimestamp(batch["created"] + 86_400, UTC).isoformat(),
            "results_url": None,
        }

    async def _anthropic_results(self, request: web.Request) -> web.Response:
        form, rows = AnthropicForm(), []
        for line in reversed(self.batches[request.match_info["id"]]["lines"]):
            prompt = line["params"]["messages"][-1]["content"]
            if "[fault:server_error]" in prompt:
                result: dict[str, Any] = {"type": "errored", "error": form.error("api_error", "it broke")}
            elif "[fault:expired]" in prompt:
                result = {"type": "expired"}
            else:
                message = form.document(f"answer to {prompt.split()[0]}", "stop", form.spent(0))
                result = {"type": "succeeded", "message": message}
            rows.append({"custom_id": line["custom_id"], "result": result})
        return web.Response(body=self._lines(rows))

    def _lines(self, rows: Sequence[Mapping[str, Any]]) -> bytes:
        return b"\n".join([*self._stray, *(json.dumps(row).encode() for row in rows)])

    def _answer(self, request: web.Request, document: dict[str, Any]) -> web.Response:
        if self.lose:
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(document)
