"""Answers to the questions and what they are worth, by model."""

import dagster as dg

from mattools_assets import freshness
from mattools_assets.assets.common import Results, declared, results, spec, telling
from mattools_assets.entrants import QA
from mattools_assets.partitions import model_partitions
from mattools_assets.planning import answers_note
from mattools_assets.qa.questions import QA_HANDWRITTEN
from mattools_assets.stages.answers import given_answers, unanswered
from mattools_assets.stages.scores import make_scores
from resources.conditions import ask_once, follow_replies
from resources.found_models import registry_of
from resources.llm.ledger import Ledger
from resources.llm.side_by_side import side_by_side
from resources.materializing import Context, InLake, InSettings, Progress, store


def answering_assets() -> list[dg.AssetsDefinition]:
    """Answers, then scores and accuracies made together from them."""
    models = model_partitions(QA)
    # Whoever has no official set and no writer of questions asks those that there are.
    optional = dg.AssetSelection.assets(*(table.name for table in freshness.QUESTION_SETS if table != QA_HANDWRITTEN))

    @declared(freshness.ANSWERS, models, ask_once().ignore(optional))
    def qa_answers(context: Context, lake: InLake, settings: InSettings) -> None:
        registry, progress = registry_of(settings), Progress(context, len(context.partition_keys))
        entries = {name: registry[name] for name in context.partition_keys}
        with telling(context), Ledger(settings.ledger_url) as ledger:
            runs = [given_answers(lake, settings, ledger, entry) for entry in entries.values()]
            for name, made in side_by_side(runs):
                note = answers_note(settings, entries[name], unanswered(made))
                store(context, lake, freshness.ANSWERS, name, {"model": name}, made, **note)
                progress.finished(name)

    steps = (freshness.SCORES, freshness.ACCURACY)
    follows = follow_replies(freshness.ANSWERS.table.name).ignore(optional)

    @dg.multi_asset(
        name="qa_marking",
        specs=[spec(step, follows) for step in steps],
        partitions_def=models,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def qa_marking(context: Context, lake: InLake) -> Results:
        progress = Progress(context, len(context.partition_keys), "qa_scores")
        with telling(context):
            for name in context.partition_keys:
                made = make_scores(lake, name)
                for step in steps:
                    store(context, lake, step, name, {"model": name}, made[step.table])
                progress.finished(name)
        yield from results(steps)

    return [qa_answers, qa_marking]
