"""Unit tests and triplets as assets, as far as nobody is asked and nothing is executed."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from mattools_assets.definitions import build_defs
from mattools_assets.tool_usage.question_sets import ToolUsageError
from mattools_assets.triplets.tables import TRIPLETS, UNIT_TESTS
from resources.lake import Lake
from resources.settings import Settings, read_settings
from tests.mattools_assets.triplets.small_suite import write_suite


def settings_with(folder: Path, **more: str) -> Settings:
    (folder / "models.yaml").write_text("models: []")
    return read_settings({"CONDMAT_DATA": str(folder / "data"), "CONDMAT_MODELS": str(folder / "models.yaml"), **more})


def materialize(settings: Settings, asset: str) -> dict[str, object]:
    """The asset's metadata."""
    job = build_defs(settings).resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey(asset)], run_config={"loggers": {"console": {}}}
        )
        (made,) = result.asset_materializations_for_node(asset)
        return {name: value.value for name, value in made.metadata.items()}


def test_unit_tests_of_the_suite(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    (suite / "more.py").write_text('"""\n>>> 1 + 1\n2\n"""\n')
    (suite / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules\n")
    (suite / "test_open.py").write_text("from elsewhere import *\n\n\ndef test_it(from_a_plugin):\n    pass\n")
    settings = settings_with(tmp_path, CONDMAT_TEST_SUITE=str(suite))
    shown = materialize(settings, "unit_tests")
    counts = ("rows", "tests", "doctests", "files", "with unresolved parameters", "open ends")
    assert [shown[name] for name in counts] == [4, 2, 1, 3, 1, 1]
    rows = {row["name"]: row for row in Lake(settings.lake).read(UNIT_TESTS, {}).to_pylist()}
    assert rows["test_salt"]["data_files"] == ["data/NaCl.vasp"]
    assert [fixture["name"] for fixture in rows["test_salt"]["fixtures"]] == ["salt"]
    assert rows["test_it"]["unresolved"] == ["from_a_plugin"]
    assert (rows["elsewhere"]["kind"], rows["more"]["kind"]) == ("open end", "doctest")


def test_without_a_suite_there_are_no_unit_tests_and_one_line(tmp_path: Path) -> None:
    settings = settings_with(tmp_path)
    materialize(settings, "unit_tests")
    assert Lake(settings.lake).read(UNIT_TESTS, {}).num_rows == 0
    with pytest.raises(ToolUsageError, match="CONDMAT_TEST_SUITE is not set"):
        materialize(settings, "triplets")


def test_without_drafts_the_accepted_set_is_empty(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, CONDMAT_TEST_SUITE=str(write_suite(tmp_path / "suite")))
    shown = materialize(settings, "triplets")
    assert shown["rows"] == 0
    stored = Lake(settings.lake).stored(TRIPLETS, {})
    assert stored is not None
    assert stored.provenance["version"] == shown["version"]
