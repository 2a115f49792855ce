"""The two batch endpoints: how requests are handed in, found again, watched and read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import httpx2
import orjson

from resources.llm.bodies import parse, written
from resources.llm.providers import Provider, provider_of
from resources.llm.records import Batch
from resources.model_entry import ModelEntry

# The time between a batch's entry in the ledger and its beginning at the provider, at most.
SUBMIT_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a batch's results: a reply's body, or an HTTP status with an error's body."""

    request_hash: str
    code: int
    body: bytes


class BatchEnd(Protocol):
    """One provider's batch endpoint."""

    async def submit(self, client: Any, key: str, bodies: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
        """Hand in bodies under their requests' hashes; returns the provider's name for the batch."""

    async def find(self, client: Any, batch: Batch) -> str | None:
        """The name of a batch that was handed in just before this program was killed; None when it was not."""

    async def has_ended(self, client: Any, provider_id: str) -> bool:
        """True when the results are there, or will never be."""

    def results(self, client: Any, provider_id: str) -> AsyncIterator[Result]:
        """What there is, in any order; requests without a result are not in it."""


def batch_end(entry: ModelEntry) -> BatchEnd:
    """The batch endpoint of a model. Raises ValueError when the entry does not ask for one."""
    if not entry.batch:
        raise ValueError(f"{entry.name}: models.yaml does not say batch: true")
    provider = provider_of(entry)
    return AnthropicBatches(provider) if entry.provider == "anthropic" else OpenAIBatches()


class OpenAIBatches:
    """A file of requests goes up, a file of replies and one of errors come down."""

    async def submit(self, client: Any, key: str, bodies: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
        lines = b"\n".join(
            orjson.dumps({"custom_id": digest, "method": "POST", "url": "/v1/chat/completions", "body": body})
            for digest, body in bodies
        )
        file = await client.files.create(file=(f"{key}.jsonl", lines), purpose="batch")
        batch = await client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={"ledger": key},
        )
        return str(batch.id)

    async def find(self, client: Any, batch: Batch) -> str | None:
        async for found in client.batches.list(limit=100):
            if (found.metadata or {}).get("ledger") == batch.key:
                return str(found.id)
            # The newest come first; a clock may be a little off.
            if found.created_at < batch.created_at - SUBMIT_SECONDS:
                break
        return None

    async def has_ended(self, client: Any, provider_id: str) -> bool:
        batch = await client.batches.retrieve(provider_id)
        return batch.status in ("completed", "failed", "expired", "cancelled")

    async def results(self, client: Any, provider_id: str) -> AsyncIterator[Result]:
        batch = await client.batches.retrieve(provider_id)
        for file in (batch.output_file_id, batch.error_file_id):
            if file is None:
                continue
            content = await client.files.content(file)
            for result in results_of(content.content, _openai_result):
                yield result


def _openai_result(row: Any) -> Result:
    response = row.get("response") or {}
    body = response.get("body") or {"error": row.get("error")}
    return Result(row["custom_id"], int(response.get("status_code") or 500), written(body))


class AnthropicBatches:
    """Requests go up in one body; there is no room for a name of ours, so a lost batch is known by time and size."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def submit(self, client: Any, key: str, bodies: Sequence[tuple[str, Mapping[str, Any]]]) -> str:  # noqa: ARG002
        content = orjson.dumps({"requests": [{"custom_id": digest, "params": body} for digest, body in bodies]})
        response = await client.post(
            "/v1/messages/batches",
            cast_to=httpx2.Response,
            content=content,
            options={"headers": {"Content-Type": "application/json"}},
        )
        return str(orjson.loads(response.content)["id"])

    async def find(self, client: Any, batch: Batch) -> str | None:
        async for found in client.messages.batches.list(limit=100):
            begun = found.created_at
            seconds = (begun if isinstance(begun, datetime) else datetime.fromisoformat(begun)).timestamp()
            if seconds < batch.created_at - SUBMIT_SECONDS:
                break
            counts = found.request_counts
            count = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
            if count == batch.requests and abs(seconds - batch.created_at) < SUBMIT_SECONDS:
                return str(found.id)
        return None

    async def has_ended(self, client: Any, provider_id: str) -> bool:
        batch = await client.messages.batches.retrieve(provider_id)
        return bool(batch.processing_status == "ended")

    async def results(self, client: Any, provider_id: str) -> AsyncIterator[Result]:
        response = await client.get(f"/v1/messages/batches/{provider_id}/results", cast_to=httpx2.Response)
        for found in results_of(response.content, self._result):
            yield found

    def _result(self, row: Any) -> Result | None:
        result = row["result"]
        if result["type"] == "succeeded":
            return Result(row["custom_id"], 200, written(result["message"]))
        if result["type"] == "errored":
            return Result(row["custom_id"], self._provider.code_of(result["error"]), written(result["error"]))
        return None  # expired or cancelled


def results_of(content: bytes, read: Callable[[Any], Result | None]) -> Iterator[Result]:
    """The results in a file, a line each. A line that cannot be read is no result, so that it is asked again."""
    for line in content.splitlines():
        try:
            result = read(parse(line))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            continue
        if result is not None and isinstance(result.request_hash, str) and result.request_hash.isalnum():
            yield result
