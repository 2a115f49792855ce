"""OpenAI's chat completions, and everything that speaks the same: Gemini, DeepSeek, Qwen, vLLM, llama.cpp, Ollama."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    AsyncStream,
    DefaultAioHttpClient,
)

from resources.llm.answer import Reply, Words
from resources.llm.outcome import MalformedReply, openai_status
from resources.llm.providers import CachePlan, Errors
from resources.llm.providers.connection import connection_options, without_ambient_headers
from resources.llm.request import ChatRequest
from resources.llm.usage import openai_usage
from resources.model_entry import ModelEntry

# A server without keys still wants the header; the kit would else look for OPENAI_API_KEY and send that.
NO_KEY = "none"


class OpenAIChat:
    """See `Provider`."""

    path = "/chat/completions"
    errors = Errors(APITimeoutError, APIConnectionError, APIStatusError, APIError)
    stream_class = AsyncStream

    def body(self, entry: ModelEntry, request: ChatRequest) -> dict[str, Any]:
        """`seed` is the entry's plus the repeat, or repeats would be copies."""
        own = request.parameters or entry.parameters
        seed = None if own.seed is None else own.seed + request.repeat
        optional = {
            "temperature": own.temperature,
            "top_p": own.top_p,
            "reasoning_effort": own.effort,
            "seed": seed,
            "tools": list(request.tools) or None,
            "response_format": _format(entry, request),
        }
        return {
            "model": entry.model,
            "messages": list(request.messages),
            entry.capabilities.token_cap: own.max_output_tokens,
            **{name: value for name, value in optional.items() if value is not None},
            **own.extra_body,
        }

    def transport(self, entry: ModelEntry, plan: CachePlan, prompt_hash: str, stream: bool) -> dict[str, Any]:
        """Cache fields exist at OpenAI itself; others cache by themselves or not at all."""
        fields: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        if entry.provider != "openai" or entry.capabilities.cache == "none":
            return fields
        if plan is CachePlan.AGAIN:
            fields["prompt_cache_key"] = prompt_hash
        elif entry.capabilities.cache == "openai_explicit":
            # Explicit without a breakpoint: nothing is written, as writing is charged.
            fields["prompt_cache_options"] = {"mode": "explicit"}
        return fields

    def words(self, document: Any) -> Words:
        choice = _first_choice(document)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise MalformedReply("the first choice has no message")
        return Words(
            _text(message.get("content")),
            _text(message.get("reasoning_content")) or _text(message.get("reasoning")),
            _calls(message.get("tool_calls")),
            _string(choice.get("finish_reason")),
            _string(message.get("refusal")),
        )

    def read(self, document: Any) -> Reply:
        words = self.words(document)
        usage = openai_usage(document.get("usage"))
        status, why = openai_status(words, usage.reasoning_tokens)
        return Reply(
            status,
            words,
            usage,
            _string(document.get("model")),
            _string(document.get("system_fingerprint")),
            why,
        )

    def assembler(self) -> OpenAIAssembler:
        return OpenAIAssembler()

    def code_of(self, detail: object) -> int:
        code = detail.get("code") if isinstance(detail, Mapping) else None
        if isinstance(code, int) and 400 <= code < 600:
            return code
        return 429 if code == "rate_limit_exceeded" else 500

    def client(
        self, entry: ModelEntry, key: str | None, connections: int, most_bytes: int | None = None
    ) -> AsyncOpenAI:
        with without_ambient_headers():
            client = AsyncOpenAI(
                api_key=key or NO_KEY,
                base_url=entry.endpoint,
                max_retries=0,
                http_client=DefaultAioHttpClient(**connection_options(connections, most_bytes)),
            )
        if entry.provider == "openai_compatible":
            client.organization = client.project = None
        return client


class OpenAIAssembler:
    """Joins chunks: text, reasoning, refusal and tool calls are concatenated, of the rest the last word counts."""

    def __init__(self) -> None:
        self._whole: dict[str, Any] = {}
        self._pieces: dict[str, list[str]] = {"content": []}
        self._calls: dict[int, dict[str, Any]] = {}
        self._finish: str | None = None

    @property
    def has_begun(self) -> bool:
        return any(self._pieces.values()) or bool(self._calls)

    def add(self, event: Mapping[str, Any]) -> None:
        for name in ("id", "created", "model", "system_fingerprint", "usage", "service_tier"):
            if event.get(name) is not None:
                self._whole[name] = event[name]
        for choice in event.get("choices") or ():
            self._finish = choice.get("finish_reason") or self._finish
            delta = choice.get("delta") or {}
            for name in ("content", "reasoning_content", "reasoning", "refusal"):
                if isinstance(delta.get(name), str) and delta[name]:
                    self._pieces.setdefault(name, []).append(delta[name])
            for call in delta.get("tool_calls") or ():
                self._add_call(call)

    def body(self) -> dict[str, Any]:
        if self._finish is None:
            raise MalformedReply("the stream ended without a finish reason")
        message: dict[str, Any] = {"role": "assistant"}
        message |= {name: "".join(pieces) for name, pieces in self._pieces.items()}
        if self._calls:
            message["tool_calls"] = [call for _, call in sorted(self._calls.items())]
        choice = {"index": 0, "finish_reason": self._finish, "message": message}
        return {**self._whole, "object": "chat.completion", "choices": [choice]}

    def _add_call(self, part: Mapping[str, Any]) -> None:
        whole = self._calls.setdefault(
            part.get("index", 0), {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        whole["id"] = part.get("id") or whole["id"]
        function = part.get("function") or {}
        whole["function"]["name"] += function.get("name") or ""
        whole["function"]["arguments"] += function.get("arguments") or ""


def _format(entry: ModelEntry, request: ChatRequest) -> dict[str, Any] | None:
    if request.schema is None or not entry.capabilities.structured:
        return None
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(request.schema)}}


def _first_choice(document: Any) -> dict[str, Any]:
    choices = document.get("choices") if isinstance(document, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedReply("the reply has no choices")
    first: dict[str, Any] = choices[0]
    return first


def _text(content: Any) -> str:
    """Content is a text or a list of parts, of which some are texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _calls(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(call for call in value if isinstance(call, Mapping)) if isinstance(value, list) else ()


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
