"""OpenAI's embeddings, and everything that speaks the same: vLLM, llama.cpp, Ollama, Gemini's compatible endpoint.

The texts are the contents of a request's messages, in order; the reply's text is the matrix of their vectors as
`encoded_vectors` writes it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np

from resources.llm.answer import Reply, Words
from resources.llm.outcome import MalformedReply
from resources.llm.providers import CachePlan
from resources.llm.providers.openai_chat import OpenAIChat
from resources.llm.request import ChatRequest
from resources.llm.usage import Usage, openai_usage
from resources.model_entry import ModelEntry
from resources.outcomes import Status


class OpenAIEmbeddings(OpenAIChat):
    """See `Provider`; connection and errors are those of chat completions."""

    path = "/embeddings"

    def body(self, entry: ModelEntry, request: ChatRequest) -> dict[str, Any]:
        """Further settings, such as `dimensions`, are the entry's `extra_body`."""
        own = request.parameters or entry.parameters
        texts = [str(message["content"]) for message in request.messages]
        return {"model": entry.model, "input": texts, "encoding_format": "base64", **own.extra_body}

    def transport(self, entry: ModelEntry, plan: CachePlan, prompt_hash: str, stream: bool) -> dict[str, Any]:
        """There is nothing to stream or to cache."""
        del entry, plan, prompt_hash, stream
        return {}

    def words(self, document: Any) -> Words:
        rows = document.get("data") if isinstance(document, Mapping) else None
        if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
            raise MalformedReply("the reply has no vectors")
        places = [row.get("index", place) for place, row in enumerate(rows)]
        if sorted(map(str, places)) != sorted(str(place) for place in range(len(rows))):
            raise MalformedReply("the reply's vectors are not numbered one by one")
        vectors = [_vector(row.get("embedding")) for _, row in sorted(zip(places, rows, strict=True), key=_first)]
        if len({len(vector) for vector in vectors}) != 1:
            raise MalformedReply("the reply's vectors differ in length")
        return Words(encoded_vectors(np.stack(vectors)), finish="stop")

    def read(self, document: Any) -> Reply:
        words = self.words(document)
        usage = openai_usage(document.get("usage"))
        # Nothing is written, and some providers say nothing of it.
        usage = Usage(usage.prompt_tokens, usage.cached_tokens, usage.cache_write_tokens, 0, 0)
        model = document.get("model")
        return Reply(Status.OK, words, usage, model if isinstance(model, str) else None)


def encoded_vectors(vectors: np.ndarray) -> str:
    """A matrix of shape (n, dimensions) as text: its number of rows, a colon, its float32 numbers in base64."""
    return f"{len(vectors)}:{base64.b64encode(np.ascontiguousarray(vectors, dtype='<f4').tobytes()).decode()}"


def decoded_vectors(text: str) -> np.ndarray:
    """The matrix that `encoded_vectors` wrote, float32."""
    count, _, numbers = text.partition(":")
    return np.frombuffer(base64.b64decode(numbers), dtype="<f4").reshape(int(count), -1).astype(np.float32)


def _first(pair: tuple[Any, Any]) -> int:
    return int(pair[0])


def _vector(value: Any) -> np.ndarray:
    try:
        if isinstance(value, str):
            vector = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
        else:
            vector = np.asarray(value, dtype=np.float32)
    except (binascii.Error, TypeError, ValueError):
        raise MalformedReply("a vector of the reply is neither numbers nor base64") from None
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise MalformedReply("a vector of the reply is empty or not finite")
    return vector
