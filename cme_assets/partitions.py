"""Partitions: categories for the data, models by categories for replies and scores.

Levels, resolutions and repetitions are columns, not partitions: a partition costs a tenth of a second in Dagster.
"""

from __future__ import annotations

import dagster as dg

from cme_assets.tasks.catalogue import CATEGORIES
from resources.settings import FAST_CATEGORIES, Settings

GROUP = "cme_spectrumbench"
CATEGORY = "category"
MODEL = "model"


def selected_categories(settings: Settings) -> list[str]:
    """The categories of the profile, in the catalogue's order."""
    return [id for id in CATEGORIES if settings.profile == "full" or id in FAST_CATEGORIES]


def category_partitions(settings: Settings) -> dg.StaticPartitionsDefinition:
    """One partition a category."""
    return dg.StaticPartitionsDefinition(selected_categories(settings))


def model_partitions(protocol: str) -> dg.DynamicPartitionsDefinition:
    """One partition a model that runs under `protocol`; the sensor and `make run` add them from models.yaml."""
    return dg.DynamicPartitionsDefinition(name=f"{protocol}_models")


def evaluation_partitions(settings: Settings, protocol: str) -> dg.MultiPartitionsDefinition:
    """Models under `protocol` by categories."""
    return dg.MultiPartitionsDefinition({MODEL: model_partitions(protocol), CATEGORY: category_partitions(settings)})


def partition_key(model: str, category: str) -> dg.MultiPartitionKey:
    """Dagster's key of a model and a category."""
    return dg.MultiPartitionKey({MODEL: model, CATEGORY: category})
