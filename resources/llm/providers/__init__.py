"""What differs between providers: the form of a request, of a reply and of a stream, and the official client.

A new provider is a class with these members; the conformance tests run over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from resources.llm.answer import Reply, Words
from resources.llm.request import ChatRequest, WireRequest, wire_request
from resources.model_entry import ModelEntry


class CachePlan(Enum):
    """Whether the prompt will be sent again soon, so that writing it into the provider's cache pays."""

    ONCE = "once"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Errors:
    """The kit's exceptions: a time-out, a broken connection, an HTTP error, an error inside a stream.

    `any` is what all of them are.
    """

    timeout: type[BaseException]
    connection: type[BaseException]
    status: type[BaseException]
    any: type[BaseException]


class Assembler(Protocol):
    """Puts a stream's events together into the body that the same request without streaming would have got."""

    @property
    def has_begun(self) -> bool:
        """True once the first token has come."""

    def add(self, event: Mapping[str, Any]) -> None:
        """Take the next event. Raises MalformedReply."""

    def body(self) -> dict[str, Any]:
        """The whole. Raises MalformedReply when the stream broke off."""


class Provider(Protocol):
    """One way of speaking to models."""

    path: str
    errors: Errors
    stream_class: Any

    def body(self, entry: ModelEntry, request: ChatRequest) -> dict[str, Any]:
        """Everything that decides about the reply: the body without transport fields."""

    def transport(self, entry: ModelEntry, plan: CachePlan, prompt_hash: str, stream: bool) -> dict[str, Any]:
        """Further fields, which do not decide about the reply."""

    def words(self, document: Any) -> Words:
        """What the model said in a whole body. Raises MalformedReply."""

    def read(self, document: Any) -> Reply:
        """A whole body. Raises MalformedReply."""

    def assembler(self) -> Assembler:
        """For one stream."""

    def code_of(self, detail: object) -> int:
        """The HTTP status that an error event inside a stream stands for."""

    def client(self, entry: ModelEntry, key: str | None, connections: int, most_bytes: int | None = None) -> Any:
        """The official asynchronous client, bound to the entry's address and to `key` alone, without retries.

        Bodies of more than `most_bytes` raise BodyTooLong; files of results may have any length.
        """


def wire(provider: Provider, entry: ModelEntry, request: ChatRequest) -> WireRequest:
    """The request as it would be sent, with its identity."""
    return wire_request(
        provider.body(entry, request),
        provider=entry.provider,
        endpoint=entry.endpoint,
        repeat=request.repeat,
        purpose=request.purpose,
    )


def output_cap(entry: ModelEntry, body: Mapping[str, Any]) -> int:
    """How many tokens the reply to `body` may have."""
    return int(body.get(entry.capabilities.token_cap) or body.get("max_tokens") or 0)


def provider_of(entry: ModelEntry) -> Provider:
    """The provider of a model. Raises ValueError for a reference entrant, which asks no model."""
    # Each kit takes a second to import, so only the one that is used is.
    if entry.provider == "anthropic":
        from resources.llm.providers.anthropic_messages import AnthropicMessages

        return AnthropicMessages()
    if entry.is_embedder:
        from resources.llm.providers.openai_embeddings import OpenAIEmbeddings

        return OpenAIEmbeddings()
    if entry.provider in ("openai", "openai_compatible"):
        from resources.llm.providers.openai_chat import OpenAIChat

        return OpenAIChat()
    raise ValueError(f"{entry.name} is a reference entrant: it asks no model")
