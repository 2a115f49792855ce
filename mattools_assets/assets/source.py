"""The tool source and what does not depend on a model: tree, references, code to ask about, questions at hand."""

import dagster as dg

from mattools_assets import freshness
from mattools_assets.assets.common import Results, declared, results, spec, telling
from mattools_assets.planning import TREE, handwritten_note, published_note, source_note
from mattools_assets.stages.documents import make_code_passages
from mattools_assets.stages.questions import make_handwritten, make_published
from mattools_assets.stages.source import make_source_tables, make_tool_source
from resources.materializing import Context, InLake, InSettings, store


def source_assets() -> list[dg.AssetsDefinition]:
    """All of them, upstream first."""

    @declared(freshness.SOURCE)
    def tool_source(context: Context, lake: InLake, settings: InSettings) -> None:
        with telling(context):
            made = make_tool_source(settings)
            store(context, lake, freshness.SOURCE, None, {}, made, **source_note(settings))
            context.log.info(f"tool_source: {made.remarks['files']:,} files, {made.remarks['lines']:,} lines")

    @dg.multi_asset(name="source_tables", specs=[spec(step) for step in TREE])
    def source_tables(context: Context, lake: InLake, settings: InSettings) -> Results:
        with telling(context):
            made = make_source_tables(settings)
            for step in TREE:
                store(context, lake, step, None, {}, made[step.table])
            counts = ", ".join(f"{table.name} {each.rows.num_rows:,}" for table, each in made.items())
            context.log.info(f"source tables: {counts}")
        yield from results(TREE)

    @declared(freshness.CODE_PASSAGES)
    def pymatgen_code(context: Context, lake: InLake) -> None:
        with telling(context):
            store(context, lake, freshness.CODE_PASSAGES, None, {}, make_code_passages(lake))

    @declared(freshness.HANDWRITTEN)
    def qa_handwritten(context: Context, lake: InLake) -> None:
        store(context, lake, freshness.HANDWRITTEN, None, {}, make_handwritten(), **handwritten_note())

    @declared(freshness.PUBLISHED)
    def qa_published(context: Context, lake: InLake, settings: InSettings) -> None:
        with telling(context):
            store(context, lake, freshness.PUBLISHED, None, {}, make_published(settings), **published_note(settings))

    return [tool_source, source_tables, pymatgen_code, qa_handwritten, qa_published]
