"""What is known of what a model takes, and an entry with it filled in.

A record is a plain mapping, as the ledger notes it: fields of `Capabilities`, and `context_length`,
`max_output_tokens` and `efforts_are_all` (whether `efforts` are all that there are). What it lacks is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resources.llm.listing import ListedModel
from resources.model_entry import Capabilities, ModelEntry
from resources.outcomes import Status

Record = dict[str, Any]


class UnfitEntry(ValueError):
    """An entry that asks for what its model refuses; the message is one line with the mend."""

    status = Status.PROVIDER_ERROR


def listed_record(listed: ListedModel) -> Record:
    """What a provider's list says of a model."""
    record: Record = {
        "context_length": listed.context_length,
        "max_output_tokens": listed.max_output_tokens,
        "batch": listed.batch,
        "structured": listed.structured,
    }
    if listed.efforts is not None:
        record |= {"efforts": list(listed.efforts), "efforts_are_all": True}
    return {name: value for name, value in record.items() if value is not None}


def fitted_to(entry: ModelEntry, record: Mapping[str, Any]) -> ModelEntry:
    """`entry` with what the record knows and `models.yaml` leaves unsaid; what the model refuses is not sent.

    Temperature and top_p are left out where they are not taken, and a longer answer than the model may write is not
    asked for. Raises UnfitEntry for an effort that it refuses: another effort would be another evaluation.
    """
    stated = entry.capabilities.model_fields_set
    known = {name: record[name] for name in Capabilities.model_fields if name in record and name not in stated}
    if "efforts" in known:
        known["efforts"] = tuple(known["efforts"])
    capabilities = entry.capabilities.model_copy(update=known)
    own = entry.parameters
    if own.effort and record.get("efforts_are_all") and "efforts" in known and own.effort not in known["efforts"]:
        one_of = f"one of {', '.join(known['efforts'])}" if known["efforts"] else "none"
        raise UnfitEntry(f"{entry.name}: parameters.effort: the model does not take {own.effort} but {one_of}")
    changed: dict[str, Any] = {}
    if not capabilities.temperature:
        changed |= {"temperature": None, "top_p": None}
    if (most := record.get("max_output_tokens")) and most < own.max_output_tokens:
        changed["max_output_tokens"] = most
    return entry.model_copy(
        update={
            "capabilities": capabilities,
            "parameters": own.model_copy(update=changed),
            "context_length": entry.context_length or record.get("context_length"),
            "batch": entry.batch and capabilities.batch,
        }
    )


def in_words(record: Mapping[str, Any]) -> str:
    """The record in one line."""
    says = {
        "temperature": ("takes a temperature", "takes no temperature"),
        "stream": ("streams", "does not stream"),
        "tools": ("calls tools", "calls no tools"),
        "structured": ("keeps to a JSON schema", "keeps to no JSON schema"),
        "batch": ("batches", "no batches"),
    }
    parts = [words[0 if record[name] else 1] for name, words in says.items() if name in record]
    if "token_cap" in record:
        parts.append(record["token_cap"])
    if "efforts" in record:
        parts.append(f"efforts {', '.join(record['efforts']) or 'none'}")
    for name in ("context_length", "max_output_tokens"):
        if name in record:
            parts.append(f"{name} {record[name]}")
    return ", ".join(parts) or "nothing is known"
