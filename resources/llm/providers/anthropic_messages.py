"""Anthropic's messages. Requests come in the form of chat completions and are translated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from anthropic import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    AsyncStream,
    DefaultAioHttpClient,
    transform_schema,
)

from resources.llm.answer import Reply, Words
from resources.llm.bodies import written
from resources.llm.outcome import MalformedReply, anthropic_status
from resources.llm.providers import CachePlan, Errors
from resources.llm.providers.connection import connection_options, without_ambient_headers
from resources.llm.request import ChatRequest, Message
from resources.llm.usage import anthropic_usage
from resources.model_entry import ModelEntry

_ERROR_CODES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


# Where the pieces of a delta belong in its block.
_DELTAS = {"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "input"}


class AnthropicMessages:
    """See `Provider`."""

    path = "/v1/messages"
    errors = Errors(APITimeoutError, APIConnectionError, APIStatusError, APIError)
    stream_class = AsyncStream

    def body(self, entry: ModelEntry, request: ChatRequest) -> dict[str, Any]:
        own = request.parameters or entry.parameters
        system = "\n\n".join(str(m["content"]) for m in request.messages if m["role"] == "system")
        optional = {
            "system": system or None,
            "temperature": own.temperature,
            "top_p": own.top_p,
            "output_config": _output_config(entry, request, own.effort),
            "tools": [_tool(tool) for tool in request.tools] or None,
        }
        return {
            "model": entry.model,
            "max_tokens": own.max_output_tokens,
            "messages": list(_turns(request.messages)),
            **{name: value for name, value in optional.items() if value is not None},
            **own.extra_body,
        }

    def transport(self, entry: ModelEntry, plan: CachePlan, prompt_hash: str, stream: bool) -> dict[str, Any]:  # noqa: ARG002
        """The mark goes on the whole prompt, and only where it will be read again: writing costs 1.25 times."""
        fields: dict[str, Any] = {"stream": True} if stream else {}
        if entry.capabilities.cache == "cache_control" and plan is CachePlan.AGAIN:
            fields["cache_control"] = {"type": "ephemeral"}
        return fields

    def words(self, document: Any) -> Words:
        content = document.get("content") if isinstance(document, dict) else None
        if not isinstance(content, list) or "stop_reason" not in document:
            raise MalformedReply("the reply has no content or no stop reason")
        blocks = [block for block in content if isinstance(block, Mapping)]
        text = "".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")
        reasoning = "".join(str(b.get("thinking", "")) for b in blocks if b.get("type") == "thinking")
        calls = tuple(_call(b) for b in blocks if b.get("type") == "tool_use")
        stop = document["stop_reason"]
        return Words(text, reasoning, calls, stop if isinstance(stop, str) else None)

    def read(self, document: Any) -> Reply:
        words = self.words(document)
        usage = anthropic_usage(document.get("usage"))
        status, why = anthropic_status(words, usage.reasoning_tokens)
        served = document["model"] if isinstance(document.get("model"), str) else None
        return Reply(status, words, usage, served, None, why)

    def assembler(self) -> AnthropicAssembler:
        return AnthropicAssembler()

    def code_of(self, detail: object) -> int:
        error = detail.get("error", detail) if isinstance(detail, Mapping) else {}
        kind = error.get("type") if isinstance(error, Mapping) else None
        return _ERROR_CODES.get(str(kind), 500)

    def client(
        self, entry: ModelEntry, key: str | None, connections: int, most_bytes: int | None = None
    ) -> AsyncAnthropic:
        with without_ambient_headers():
            return AsyncAnthropic(
                api_key=key,
                base_url=entry.endpoint,
                max_retries=0,
                http_client=DefaultAioHttpClient(**connection_options(connections, most_bytes)),
                open_telemetry=False,
            )


class AnthropicAssembler:
    """Joins a message's events into the message."""

    def __init__(self) -> None:
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._complete = False
        self.has_begun = False

    def add(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self._message = dict(event["message"])
        elif self._message is None:
            if kind not in ("ping", "error"):
                raise MalformedReply(f"the stream begins with {kind}")
        elif kind == "content_block_start":
            self.has_begun = True
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            self._add_delta(event["index"], event["delta"])
        elif kind == "message_delta":
            self._message.update(event.get("delta") or {})
            self._message["usage"] = {**(self._message.get("usage") or {}), **(event.get("usage") or {})}
        elif kind == "message_stop":
            self._complete = True

    def body(self) -> dict[str, Any]:
        if self._message is None or not self._complete:
            raise MalformedReply("the stream ended before the message did")
        for (index, name), pieces in self._pieces.items():
            block, text = self._blocks[index], "".join(pieces)
            if name != "input":
                block[name] = block.get(name, "") + text
                continue
            try:
                block[name] = orjson.loads(text or "{}")
            except orjson.JSONDecodeError:
                # The token limit can cut a tool's input; the text is kept as it came.
                block[name] = text
        return {**self._message, "content": [block for _, block in sorted(self._blocks.items())]}

    def _add_delta(self, index: int, delta: Mapping[str, Any]) -> None:
        self._blocks.setdefault(index, {"type": "text", "text": ""})
        for field, name in _DELTAS.items():
            if isinstance(delta.get(field), str):
                self._pieces.setdefault((index, name), []).append(delta[field])


def _output_config(entry: ModelEntry, request: ChatRequest, effort: str | None) -> dict[str, Any] | None:
    config: dict[str, Any] = {} if effort is None else {"effort": effort}
    if request.schema is not None and entry.capabilities.structured:
        # The kit turns what the endpoint does not hold to, such as lengths of lists, into descriptions.
        config["format"] = {"type": "json_schema", "schema": transform_schema(dict(request.schema))}
    return config or None


def _turns(messages: Any) -> Iterator[dict[str, Any]]:
    """Messages without the system's; a tool's results in a row become one turn of the user."""
    results: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            results.append(
                {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            )
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        if message["role"] != "system":
            yield _turn(message)
    if results:
        yield {"role": "user", "content": results}


def _turn(message: Message) -> dict[str, Any]:
    calls = message.get("tool_calls") or ()
    if not calls:
        return {"role": message["role"], "content": message["content"]}
    content = [{"type": "text", "text": message["content"]}] if message.get("content") else []
    for call in calls:
        function = call["function"]
        arguments = orjson.loads(function["arguments"] or "{}")
        content.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": arguments})
    return {"role": "assistant", "content": content}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    return {"name": function["name"], "description": function.get("description", ""), "input_schema": schema}


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call in the form of chat completions."""
    given = block.get("input")
    arguments = given if isinstance(given, str) else written(given).decode()
    return {
        "id": block.get("id"),
        "type": "function",
        "function": {"name": block.get("name"), "arguments": arguments},
    }
