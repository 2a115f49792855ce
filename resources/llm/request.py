"""What is asked: a chat request, and its identity.

Messages are written in the form of OpenAI's chat completions whatever the provider; `providers` translate. Two
requests are the same, and are paid for once, when provider, endpoint, wire model, every parameter that reaches the
wire, messages, tools and repeat are the same. What only concerns transport (streaming, cache marks) is not part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from resources.model_entry import Parameters

Message = dict[str, Any]
# Texts up to this length stay in the request's own row; longer ones are stored once by their content.
LONGEST_INLINE_TEXT = 1_000
_TEXT_KEY = "$text"


@dataclass(frozen=True, slots=True, eq=False)
class ChatRequest:
    """One request for one reply.

    `parameters` of None means the model entry's own. `repeat` counts from 0: equal requests of different repeat are
    asked apart. `purpose` is an opaque label (an evaluation, an agent's step) that is stored with the request. `schema`
    is the JSON schema of the reply, sent where the model's capabilities say that it holds to one.
    """

    messages: Sequence[Message]
    repeat: int = 0
    purpose: str = ""
    parameters: Parameters | None = None
    tools: Sequence[Mapping[str, Any]] = ()
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request as the provider takes it, with its identity.

    `body` is what goes on the wire save for transport fields; `skeleton` is the same as JSON with long texts replaced
    by references into `texts` (content hash to text).
    """

    hash: str
    prompt_hash: str
    provider: str
    endpoint: str
    model: str
    repeat: int
    purpose: str
    body: Mapping[str, Any]
    skeleton: bytes
    texts: Mapping[str, str] = field(default_factory=dict)


def wire_request(body: Mapping[str, Any], *, provider: str, endpoint: str, repeat: int, purpose: str) -> WireRequest:
    """The identity of `body` sent to `endpoint` for the `repeat`th time."""
    texts: dict[str, str] = {}
    skeleton = _canonical(body)
    if len(skeleton) > LONGEST_INLINE_TEXT:
        skeleton = _canonical(_without_long_texts(body, texts))
    prompt_hash = content_hash(skeleton)
    identity = f"{provider}\n{endpoint}\n{repeat}\n{prompt_hash}"
    return WireRequest(
        content_hash(identity.encode()),
        prompt_hash,
        provider,
        endpoint,
        str(body["model"]),
        repeat,
        purpose,
        body,
        skeleton,
        texts,
    )


def restore(skeleton: bytes, texts: Mapping[str, str]) -> Any:
    """The body that `skeleton` was made from. Raises KeyError when a text is missing."""
    return _with_long_texts(orjson.loads(skeleton), texts)


def text_references(skeleton: bytes) -> Iterator[str]:
    """Content hashes of the texts that `skeleton` refers to."""
    if _TEXT_KEY.encode() in skeleton:
        yield from _references(orjson.loads(skeleton))


def _canonical(body: Any) -> bytes:
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


def content_hash(data: bytes) -> str:
    """128-bit BLAKE2b of `data` in hexadecimal."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# Repeats of one prompt come one after the other and share the string, so a few remembered hashes are enough.
@lru_cache(maxsize=8)
def _text_hash(text: str) -> str:
    return content_hash(text.encode("utf-8", "surrogatepass"))


def _without_long_texts(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, str):
        if len(value) <= LONGEST_INLINE_TEXT:
            return value
        digest = _text_hash(value)
        texts[digest] = value
        return {_TEXT_KEY: digest}
    if isinstance(value, dict):
        return {key: _without_long_texts(item, texts) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_long_texts(item, texts) for item in value]
    return value


def _with_long_texts(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_TEXT_KEY}:
            return texts[value[_TEXT_KEY]]
        return {key: _with_long_texts(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_long_texts(item, texts) for item in value]
    return value


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if value.keys() == {_TEXT_KEY}:
            yield value[_TEXT_KEY]
        else:
            for item in value.values():
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
