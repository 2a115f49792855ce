"""What a model knows of a library: its source, documents, questions, answers and accuracies."""

import dagster as dg

from resources.settings import Settings


def knowledge_defs(_settings: Settings) -> dg.Definitions:
    """The assets, checks and automation of this part."""
    return dg.Definitions()
