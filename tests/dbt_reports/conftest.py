"""One lake of random scores and the reports built from it, shared by the tests that only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dbt_reports.build import build_reports
from resources.lake import Lake
from resources.settings import Settings, read_settings
from tests.random_lake import Evaluation, at_resolutions, write_problems, write_scores

LEADER = Evaluation("leader", best=0.7)
REPEATED = Evaluation(
    "org/repeated model",
    best=0.5,
    repeats=3,
    cost_usd=0.25,
    unscored=frozenset({"A1-L0", "D3-L2"}),
    unparseable=frozenset({"B1-L4", "G2-L0"}),
)
UNPRICED = Evaluation("reference-rowwise", best=0.4, cost_usd=None, seed=4)
REACT = Evaluation("leader", best=0.9, protocol="react", spread=0.1)
LONGER = Evaluation("leader", best=0.9, protocol="react", spread=0.1, variant="60 steps")
PARTIAL = Evaluation("partial", best=0.99, spread=0.01)


def settings_in(folder: Path) -> Settings:
    """The settings of a project whose data are in `folder`."""
    return read_settings({"CONDMAT_DATA": str(folder)})


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    # Brackets, spaces and quotes are legal in a folder's name and mean something in globs and in SQL.
    settings = settings_in(tmp_path_factory.mktemp("data") / "group's [A] data")
    lake = Lake(str(settings.lake))
    write_problems(lake)
    write_scores(lake, *at_resolutions(LEADER, 50, 100, 200), REPEATED, UNPRICED, REACT, LONGER)
    write_scores(lake, PARTIAL, categories=("A1", "B1"))
    return settings


@pytest.fixture(scope="session")
def reports_database(settings: Settings) -> Path:
    return build_reports(settings).database


@pytest.fixture
def reports(reports_database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(reports_database, read_only=True) as connection:
        yield connection
