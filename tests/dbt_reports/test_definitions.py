"""The reports as Dagster assets."""

from __future__ import annotations

import dagster as dg
import duckdb
import pytest

from dbt_reports.definitions import build_defs, dbt_resource, page_asset, report_tables
from dbt_reports.project import PROJECT, manifest
from resources.lake import Lake
from resources.settings import Settings, read_settings
from tests.random_lake import Evaluation, write_problems, write_scores

SOURCES = {".sql", ".py", ".csv"}
FILES = [path for folder in ("models", "seeds") for path in (PROJECT / folder).rglob("*")]
TABLES = {path.stem for path in FILES if path.suffix in SOURCES}
"""A table is a model or a seed, in a file of its own with its name."""
PAGE = dg.AssetKey("leaderboard_page")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path_factory.mktemp("data"))})
    lake = Lake(str(settings.lake))
    write_problems(lake, ("A1", "B1"))
    write_scores(lake, Evaluation("first"), categories=("A1", "B1"))
    return settings


@pytest.fixture(scope="module")
def defs(settings: Settings) -> dg.Definitions:
    return build_defs(settings)


def materialize(settings: Settings, selection: str = "*") -> dg.ExecuteInProcessResult:
    tables = report_tables(settings)
    return dg.materialize(
        [tables, page_asset(settings, tables)],
        resources={"dbt": dbt_resource()},
        selection=selection,
        raise_on_error=False,
    )


def board(settings: Settings) -> list[str]:
    with duckdb.connect(settings.reports_database, read_only=True) as connection:
        return [name for (name,) in connection.execute("select model from cme_leaderboard order by model").fetchall()]


def test_groups(defs: dg.Definitions) -> None:
    graph = defs.resolve_asset_graph()
    assert graph.get(dg.AssetKey("cme_leaderboard")).group_name == "reports"
    assert graph.get(dg.AssetKey("published_results")).group_name == "published"
    assert not [key for key in graph.materializable_asset_keys if graph.get(key).group_name == "default"]


def test_lineage(defs: dg.Definitions) -> None:
    graph = defs.resolve_asset_graph()
    assert {key.path[-1] for key in graph.materializable_asset_keys} == TABLES | {"leaderboard_page"}
    assert {dg.AssetKey("cme_leaderboard"), dg.AssetKey("noisy_spectra")} <= graph.get(PAGE).parent_keys
    scores = {dg.AssetKey(f"{protocol}_scores") for protocol in ("direct", "code", "react")}
    assert graph.get(dg.AssetKey("cme_scores")).parent_keys == scores
    assert len([key for key in graph.asset_check_keys if key.asset_key == dg.AssetKey("cme_scores")]) > 10


def test_materialize_all_then_some(settings: Settings) -> None:
    whole = materialize(settings)
    assert whole.success
    assert {event.asset_key.path[-1] for event in whole.get_asset_materialization_events()} == TABLES | {
        "leaderboard_page"
    }
    assert "first" in settings.page.read_text()
    assert all(evaluation.passed for evaluation in whole.get_asset_check_evaluations())
    assert len(whole.get_asset_check_evaluations()) > 60
    assert board(settings) == ["first"]

    write_scores(Lake(str(settings.lake)), Evaluation("second"), categories=("A1", "B1"))
    some = materialize(settings, "cme_scores")
    assert some.success
    assert board(settings) == ["first"], "only cme_scores was asked for"
    with duckdb.connect(settings.reports_database, read_only=True) as connection:
        assert connection.execute("select count(distinct model) from cme_scores").fetchall() == [(2,)]

    path = settings.lake / "direct_scores" / "model=second" / "category=A1" / "data.parquet"
    path.write_bytes(path.read_bytes()[:50])
    broken = materialize(settings)
    assert not broken.success
    assert any(str(path) in str(event) for event in broken.all_events if event.is_failure)
    assert not broken.get_asset_materialization_events()
    assert board(settings) == ["first"]


@pytest.mark.usefixtures("defs")
def test_manifest_is_parsed_once(settings: Settings) -> None:
    before = manifest(settings).stat().st_mtime_ns
    assert manifest(settings).stat().st_mtime_ns == before
