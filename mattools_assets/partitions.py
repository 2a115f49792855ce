"""Partitions: a model for each of the benchmark's evaluations; what else varies is a column or a second dimension."""

from __future__ import annotations

import dagster as dg

from mattools_assets.tool_usage.entrants import PROTOCOL, SYSTEMS, Evaluation

MODEL = "model"
SYSTEM = "system"


def model_partitions(protocol: str) -> dg.DynamicPartitionsDefinition:
    """One partition a model that runs under `protocol` (qa, tools, …); the sensor and `make run-mattools` add them."""
    return dg.DynamicPartitionsDefinition(name=f"mattools_{protocol}_models")


def tool_partitions() -> dg.MultiPartitionsDefinition:
    """Models by systems: reference, recorded and the live ones."""
    return dg.MultiPartitionsDefinition(
        {MODEL: model_partitions(PROTOCOL), SYSTEM: dg.StaticPartitionsDefinition(list(SYSTEMS))}
    )


def tool_key(evaluation: Evaluation) -> dg.MultiPartitionKey:
    """Dagster's key of a model under a system."""
    return dg.MultiPartitionKey({MODEL: evaluation.model, SYSTEM: evaluation.system})
