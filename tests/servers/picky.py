"""A model that refuses what it is told to refuse, in the very words of real providers, and lists what it is told to.

The bodies are those that users of the providers have reported. What is left is answered as `FaultyServer` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from tests.servers.faulty import AnthropicForm, Form, Log, OpenAIForm

Refusal = tuple[int, dict[str, Any]]


def openai_error(message: str, param: str | None, code: str | None, status: int = 400) -> Refusal:
    """OpenAI's form of an error."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return status, {"error": error}


def anthropic_error(message: str) -> Refusal:
    """Anthropic's form of an error."""
    return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


OPENAI_TEMPERATURE = openai_error(
    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
    "temperature",
    "unsupported_value",
)
OPENAI_MAX_TOKENS = openai_error(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "max_tokens",
    "unsupported_parameter",
)
OPENAI_TOO_MANY = openai_error(
    "max_tokens is too large: 65536. This model supports at most 16384 completion tokens, whereas you provided 65536.",
    "max_tokens",
    "invalid_value",
)
OPENAI_NO_EFFORT = openai_error("Unrecognized request argument supplied: reasoning_effort", None, None)
OPENAI_EFFORT = openai_error(
    "Unsupported value: 'reasoning_effort' does not support 'low' with this model. Supported values are: 'medium', "
    "'high', and 'xhigh'.",
    "reasoning_effort",
    "unsupported_value",
)
OPENAI_STREAM = openai_error(
    "Your organization must be verified to stream this model. Please go to: "
    "https://platform.openai.com/settings/organization/general and click on Verify Organization.",
    "stream",
    "unsupported_value",
)
OPENAI_SCHEMA = openai_error(
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", None, None
)
VOLCENGINE_TOO_MANY: Refusal = (
    400,
    {
        "error": {
            "code": "InvalidParameter",
            "message": "The parameter `max_tokens` specified in the request are not valid: integer above maximum value,"
            " expected a value <= 12288, but got 32000 instead.",
            "param": "max_tokens",
            "type": "BadRequest",
        }
    },
)
OLLAMA_TOOLS = openai_error("registry.ollama.ai/library/gemma:2b does not support tools", None, None)
LLAMA_CPP_TOOLS: Refusal = (
    500,
    {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}},
)
ANTHROPIC_TEMPERATURE = anthropic_error("`temperature` is deprecated for this model.")
ANTHROPIC_EFFORT = anthropic_error("This model does not support the effort parameter.")
ANTHROPIC_TOO_MANY = anthropic_error(
    "max_tokens: 65536 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022"
)
# Some gateways say nothing but that.
VAGUE = anthropic_error("Invalid request data")

Rule = tuple[Callable[[Mapping[str, Any]], bool], Refusal]


def sends(field: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a body has the field; `output_config.effort` is one within another."""

    def check(body: Mapping[str, Any]) -> bool:
        found: Any = body
        for part in field.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found is not None and found is not False

    return check


class PickyServer:
    """The application; `rules` are tried in order, `listed` are rows of the list of models, of which there is none
    while it is None."""

    def __init__(self, *rules: Rule, listed: list[dict[str, Any]] | None = None) -> None:
        self.rules, self.listed = rules, listed
        self.log = Log()
        self.looks = 0
        self.list_status = 200
        self.list_moved_to: str | None = None

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._openai)
        app.router.add_post("/v1/messages", self._anthropic)
        app.router.add_get("/v1/models", self._models)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        self.looks += 1
        self.log.headers.append(dict(request.headers))
        if self.list_moved_to is not None:
            raise web.HTTPTemporaryRedirect(self.list_moved_to)
        if self.listed is None:
            raise web.HTTPNotFound
        if self.list_status != 200:
            return web.json_response({"error": {"message": f"no: {dict(request.headers)}"}}, status=self.list_status)
        return web.json_response({"object": "list", "data": self.listed, "has_more": False})

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, OpenAIForm())

    async def _anthropic(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, AnthropicForm())

    async def _serve(self, request: web.Request, form: Form) -> web.StreamResponse:
        body = await request.json()
        self.log.bodies.append(body)
        self.log.headers.append(dict(request.headers))
        for applies, (status, document) in self.rules:
            if applies(body):
                self.log.statuses[status] += 1
                return web.json_response(document, status=status)
        self.log.statuses[200] += 1
        return await form.reply(request, body, '{"ok": true}')
