"""What a provider's list of models says: whether a model is still there, until when, and what it takes.

A listed model may still be refused to an account, and a list may lack a model that answers: this informs, and decides
nothing by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import orjson

from resources.llm.providers import provider_of
from resources.llm.secrets import key_of
from resources.model_entry import ModelEntry

MOST_PAGES = 20


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One listed model; what the provider does not say is None. `ends` is an ISO date or time."""

    id: str
    ends: str | None = None
    context_length: int | None = None
    max_output_tokens: int | None = None
    batch: bool | None = None
    efforts: tuple[str, ...] | None = None
    structured: bool | None = None


async def list_models(entry: ModelEntry, environment: Mapping[str, str]) -> dict[str, ListedModel]:
    """The models at the entry's address by the provider's names. Raises the kit's error when it cannot be had."""
    client = provider_of(entry).client(entry, key_of(entry, environment), 1)
    path = "/v1/models?limit=1000" if entry.provider == "anthropic" else "/models"
    found: dict[str, ListedModel] = {}
    try:
        page = path
        for _ in range(MOST_PAGES):
            response = await client.get(page, cast_to=httpx2.Response)
            document = orjson.loads(response.content)
            found.update((row["id"], _listed(row)) for row in document.get("data") or () if "id" in row)
            if not document.get("has_more") or not document.get("last_id"):
                break
            page = f"{path}&after_id={document['last_id']}"
        return found
    finally:
        await client.close()


def differences(entry: ModelEntry, listed: Mapping[str, ListedModel]) -> list[str]:
    """One line for each thing that the list says otherwise than `models.yaml`."""
    if entry.model not in listed:
        return [f"{entry.name}: {entry.model} is not among the {len(listed)} models at {entry.endpoint}"]
    its = listed[entry.model]
    lines = []
    if its.ends is not None:
        lines.append(f"{entry.name}: {entry.model} ends on {its.ends}")
    if its.context_length is not None and entry.context_length not in (None, its.context_length):
        lines.append(
            f"{entry.name}: context_length is {its.context_length} there, {entry.context_length} in models.yaml"
        )
    own = entry.parameters.max_output_tokens
    if its.max_output_tokens is not None and own > its.max_output_tokens:
        lines.append(f"{entry.name}: max_output_tokens may be at most {its.max_output_tokens}, models.yaml has {own}")
    if its.batch is False and entry.batch:
        lines.append(f"{entry.name}: there is no batch endpoint for it, models.yaml says batch: true")
    if its.efforts is not None and entry.parameters.effort not in (None, *its.efforts):
        lines.append(f"{entry.name}: effort is one of {', '.join(its.efforts)}, not {entry.parameters.effort}")
    return lines


def _listed(row: Mapping[str, Any]) -> ListedModel:
    """OpenAI, Anthropic and vLLM say different things under different names."""
    capabilities = row.get("capabilities")
    capabilities = capabilities if isinstance(capabilities, Mapping) else {}
    effort = capabilities.get("effort")
    efforts = None
    if isinstance(effort, Mapping):
        efforts = tuple(name for name, value in effort.items() if name != "supported" and _supported(value))
    ends = row.get("shutdown_date") or row.get("retires_at")
    return ListedModel(
        str(row["id"]),
        None if ends is None else str(ends),
        _count(row.get("max_input_tokens")) or _count(row.get("max_model_len")),
        _count(row.get("max_tokens")),
        _supported(capabilities["batch"]) if "batch" in capabilities else None,
        efforts,
        _supported(capabilities["structured_outputs"]) if "structured_outputs" in capabilities else None,
    )


def _supported(value: Any) -> bool:
    return bool(value.get("supported")) if isinstance(value, Mapping) else bool(value)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
