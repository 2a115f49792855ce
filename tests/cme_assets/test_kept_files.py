"""Files that Dagster has not seen become materializations, once, and no others."""

from __future__ import annotations

import dagster as dg

from cme_assets.partitions import partition_key
from resources.settings import Settings
from tests.fast_graph import ENTRANTS, bring


def materialized(instance: dg.DagsterInstance, asset: str) -> set[str]:
    return instance.get_materialized_partitions(dg.AssetKey(asset))


def test_another_instance_learns_of_all_files_without_a_run(made: Settings) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        done = bring(made, instance)
        assert (done.runs, done.partitions) == (0, 0)
        assert materialized(instance, "noisy_spectra") == {"A1", "B1"}
        pairs = {partition_key(model, category) for model in ENTRANTS for category in ("A1", "B1")}
        assert materialized(instance, "direct_scores") == pairs
        latest = instance.get_latest_materialization_event(dg.AssetKey("direct_scores"))
        bring(made, instance)
        assert instance.get_latest_materialization_event(dg.AssetKey("direct_scores")) == latest


def test_a_missing_file_is_made_by_a_run_and_not_reported(made: Settings) -> None:
    (made.lake / "direct_scores" / "model=centre" / "category=A1" / "data.parquet").unlink()
    with dg.DagsterInstance.ephemeral() as instance:
        assert bring(made, instance).partitions == 1
        records = instance.fetch_materializations(dg.AssetKey("direct_scores"), limit=100).records
        by_run = [record.partition_key for record in records if record.run_id]
        assert by_run == [partition_key("centre", "A1")]
