"""The code location of MatTools as Dagster sees it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mattools_assets import schemas
from mattools_assets.definitions import build_defs
from resources.lake import Lake
from resources.settings import read_settings


def test_the_parts_are_one_graph_over_one_lake(tmp_path: Path) -> None:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path)})
    definitions = build_defs(settings, {"lake": Lake(tmp_path / "elsewhere")})
    assert definitions.resources is not None
    assert str(definitions.resources["lake"].root) == str(tmp_path / "elsewhere")
    graph = definitions.resolve_asset_graph()
    assert all(node.code_version and node.description for node in graph.asset_nodes if node.is_materializable)


def test_no_two_tables_share_a_name() -> None:
    assert max(Counter(table.name for table in schemas.ALL).values()) == 1
