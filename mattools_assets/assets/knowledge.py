"""What a model knows of a library: its source, documents, questions, answers and accuracies."""

import dagster as dg

from mattools_assets.assets.answering import answering_assets
from mattools_assets.assets.source import source_assets
from mattools_assets.assets.writing import writing_assets
from mattools_assets.automation import build_automation
from mattools_assets.checks import build_checks
from resources.settings import Settings


def knowledge_defs(settings: Settings) -> dg.Definitions:
    """The assets, checks and automation of this part."""
    own = dg.Definitions(
        assets=[*source_assets(), *writing_assets(settings), *answering_assets()], asset_checks=build_checks()
    )
    return dg.Definitions.merge(own, build_automation(settings))
