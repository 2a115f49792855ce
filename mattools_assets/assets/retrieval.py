"""Documents that systems retrieve from: their chunks, the chunks' vectors, and how well search finds what is needed."""

import asyncio
from collections.abc import Callable

import dagster as dg

from mattools_assets.systems.opening import CHUNKS, VECTORS, Place
from mattools_assets.systems.recall import RECALL, make_recall, recall_note
from mattools_assets.systems.sources import SOURCES, make_chunks
from resources.found_models import registry_of
from resources.lake import Lake
from resources.llm.ledger import Ledger
from resources.llm.spending import budget_of
from resources.materializing import Context, InLake, InSettings, entries, store
from resources.registry import read_environment
from resources.retrieval.choice import opened_embedder
from resources.retrieval.indexing import Indexed, index_source
from resources.settings import Settings

GROUP = "mattools_retrieval"
PARTITIONS = dg.StaticPartitionsDefinition(list(SOURCES))


def retrieval_defs(settings: Settings) -> dg.Definitions:
    """The assets of this part."""
    return dg.Definitions(assets=[_chunks(settings), _vectors(), _recall()])


def _chunks(settings: Settings) -> dg.AssetsDefinition:
    writer = dg.SpecificPartitionsPartitionMapping([settings.knowledge.doc_source])
    documents = dg.AssetDep("llm_docs", partition_mapping=writer)

    @_asset(CHUNKS.table.name, CHUNKS.table.description, CHUNKS.code_version, ["code_objects", documents])
    def retrieval_chunks(context: Context, lake: InLake, settings: InSettings) -> None:
        place = _place(lake, settings)
        for source in context.partition_keys:
            made = make_chunks(place.means, source)
            store(context, lake, CHUNKS, source, {"source": source}, made, **_note(place, source))

    return retrieval_chunks


def _vectors() -> dg.AssetsDefinition:
    @_asset(VECTORS.table.name, VECTORS.table.description, VECTORS.code_version, [CHUNKS.table.name])
    def retrieval_vectors(context: Context, lake: InLake, settings: InSettings) -> None:
        place = _place(lake, settings)
        for source in context.partition_keys:
            indexed, name = asyncio.run(_indexed(place, source))
            if indexed is None:
                context.log.info(f"{source}: searched by words, so that there are no vectors")
                continue
            key = {"source": source, "embedder": name}
            lake.write(VECTORS.table, key, indexed.rows, VECTORS.provenance(lake, key) or {})
            remarks = {"embedder": name, "texts": indexed.texts, "embedded now": indexed.embedded}
            context.add_asset_metadata(entries(remarks), partition_key=source)

    return retrieval_vectors


def _recall() -> dg.AssetsDefinition:
    @_asset(RECALL.table.name, RECALL.table.description, RECALL.code_version, [VECTORS.table.name])
    def retrieval_recall(context: Context, lake: InLake, settings: InSettings) -> None:
        place = _place(lake, settings)
        with Ledger(settings.ledger_url) as ledger:
            for source in context.partition_keys:
                made = asyncio.run(make_recall(place, source, ledger))
                key = {"source": source, "embedder": place.embedder}
                store(context, lake, RECALL, source, key, made, questions=recall_note())

    return retrieval_recall


def _asset(
    name: str, description: str, version: str, deps: list[str | dg.AssetDep]
) -> Callable[[Callable[..., None]], dg.AssetsDefinition]:
    return dg.asset(
        name=name,
        deps=deps,
        description=description,
        group_name=GROUP,
        kinds={"python", "parquet"},
        partitions_def=PARTITIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        code_version=version,
    )


def _place(lake: Lake, settings: Settings) -> Place:
    return Place(lake, settings, registry_of(settings))


def _note(place: Place, source: str) -> dict[str, str]:
    note = place.chunks_note(source) or {}
    return {name: value for name, value in note.items() if name == "documents"}


async def _indexed(place: Place, source: str) -> tuple[Indexed | None, str]:
    settings = place.settings
    keys, budget = read_environment(settings.models_file), budget_of(settings)
    with Ledger(settings.ledger_url) as ledger:
        async with opened_embedder(settings.embedder, place.registry, keys, ledger, budget) as embedder:
            if embedder is None:
                return None, ""
            return await index_source(place.lake, source, embedder), embedder.name
