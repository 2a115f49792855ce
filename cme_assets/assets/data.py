"""The benchmark's data, by category: problems, spectra, noisy spectra and prompts. Nothing here depends on a model."""

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from cme_assets import freshness
from cme_assets.freshness import Step
from cme_assets.partitions import GROUP
from cme_assets.stages.maps import make_noisy_spectra, make_problems, make_spectra
from cme_assets.stages.prompting import make_prompts
from resources.lake import Lake
from resources.materializing import Context, InLake, InSettings, InWorkers, Progress, store
from resources.stage import Made
from resources.workers import Workers


def data_assets(categories: dg.PartitionsDefinition) -> list[dg.AssetsDefinition]:
    """The four data assets over `categories`."""

    def asset(step: Step) -> Callable[[Callable[..., None]], dg.AssetsDefinition]:
        return dg.asset(
            name=step.table.name,
            deps=[table.name for table in step.inputs],
            description=step.table.description,
            group_name=GROUP,
            kinds={"python", "parquet"},
            partitions_def=categories,
            backfill_policy=dg.BackfillPolicy.single_run(),
            code_version=step.code_version,
        )

    @asset(freshness.PROBLEMS)
    def problems(context: Context, lake: InLake, settings: InSettings) -> None:
        progress = Progress(context, len(context.partition_keys))
        for category in context.partition_keys:
            stored = lake.stored(freshness.PROBLEMS.table, {"category": category})
            # Tables of other sizes that are there already stay: their replies may have cost money.
            resolutions = sorted({*settings.resolutions, *freshness.noted_resolutions(stored)})
            made = make_problems(category, resolutions)
            note = freshness.problems_note(resolutions)
            store(context, lake, freshness.PROBLEMS, category, {"category": category}, made, **note)
            progress.finished(category)

    @asset(freshness.SPECTRA)
    def spectra(context: Context, lake: InLake, workers: InWorkers) -> None:
        _by_category(context, lake, workers, freshness.SPECTRA, make_spectra)

    @asset(freshness.NOISY_SPECTRA)
    def noisy_spectra(context: Context, lake: InLake, workers: InWorkers) -> None:
        _by_category(context, lake, workers, freshness.NOISY_SPECTRA, make_noisy_spectra)

    @asset(freshness.PROMPTS)
    def prompts(context: Context, lake: InLake, workers: InWorkers) -> None:
        _by_category(context, lake, workers, freshness.PROMPTS, make_prompts)

    return [problems, spectra, noisy_spectra, prompts]


def _by_category(context: Context, lake: Lake, workers: Workers, step: Step, make: Callable[[Lake, str], Made]) -> None:
    categories: Sequence[str] = context.partition_keys
    arguments: list[tuple[Any, ...]] = [(lake, category) for category in categories]
    progress = Progress(context, len(categories))
    for index, made in workers.map(make, arguments):
        store(context, lake, step, categories[index], {"category": categories[index]}, made)
        progress.finished(categories[index])
