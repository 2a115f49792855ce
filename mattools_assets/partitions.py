"""Partitions: a model for each of the benchmark's evaluations; what else varies is a column or a second dimension."""

from __future__ import annotations

import dagster as dg

MODEL = "model"


def model_partitions(protocol: str) -> dg.DynamicPartitionsDefinition:
    """One partition a model that runs under `protocol` (qa, tools, …); the sensor and `make run-mattools` add them."""
    return dg.DynamicPartitionsDefinition(name=f"mattools_{protocol}_models")
