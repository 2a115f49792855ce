"""The same problem is the same on every machine: whatever the number of workers, the order and the processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import numpy as np
import pyarrow as pa
import pytest

from cme_assets import schemas
from cme_assets.stages.maps import make_noisy_spectra, make_problems, make_spectra
from cme_assets.stages.prompting import make_prompts
from resources.lake import Lake
from resources.settings import Settings
from resources.workers import Workers
from tests.fast_graph import ENTRANTS, bring, fast_settings

ROOT = Path(__file__).parents[2]


def hashes(settings: Settings) -> dict[str, str]:
    """Content hash of every file of the lake."""
    lake = Lake(settings.lake)
    return {
        f"{table.name}/{'/'.join(key.values())}": table.content_hash(lake.read(table, key))
        for table in schemas.ALL
        for key in lake.keys(table)
    }


@pytest.mark.parametrize("workers", [1, 2])
def test_as_many_workers_as_there_are_change_nothing(
    made_once: Settings, tmp_path: Path, instance: dg.DagsterInstance, workers: int
) -> None:
    settings = fast_settings(tmp_path)
    bring(settings, instance, Workers(workers, preload=("cme_assets.protocols",)))
    assert hashes(settings) == hashes(made_once)
    assert len(hashes(settings)) == 2 * 4 + 2 * 2 * len(ENTRANTS)


def test_a_category_alone_and_last_is_the_same_as_among_others(made_once: Settings, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    make_all(lake, "B1")
    whole = hashes(made_once)
    for table in (schemas.PROBLEMS, schemas.SPECTRA, schemas.NOISY_SPECTRA, schemas.PROMPTS):
        assert table.content_hash(lake.read(table, {"category": "B1"})) == whole[f"{table.name}/B1"]


def test_draws_do_not_depend_on_the_table_size(made_once: Settings) -> None:
    small = make_problems("A1", (20,)).rows.to_pylist()
    other = Lake(made_once.lake).read(schemas.PROBLEMS, {"category": "A1"}).to_pylist()
    assert [row["parameters"] for row in small] == [row["parameters"] for row in other]


_ON_ANOTHER_PROCESSOR = """
import json, sys
import numpy as np
from resources.lake import Lake
from tests.cme_assets.test_identity import make_all
make_all(Lake(sys.argv[1]), "B1")
print(json.dumps(np._core._multiarray_umath.__cpu_features__))
"""


def make_all(lake: Lake, category: str) -> None:
    """One category's data at the fast profile's size."""
    key = {"category": category}
    lake.write(schemas.PROBLEMS, key, make_problems(category, (50,)).rows, {})
    lake.write(schemas.SPECTRA, key, make_spectra(lake, category).rows, {})
    lake.write(schemas.NOISY_SPECTRA, key, make_noisy_spectra(lake, category).rows, {})
    lake.write(schemas.PROMPTS, key, make_prompts(lake, category).rows, {})


def test_other_processor_features_change_no_table_and_no_float_beyond_1e_9(made_once: Settings, tmp_path: Path) -> None:
    umath = np._core._multiarray_umath
    disabled = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    if not disabled:
        pytest.skip("this processor has no feature that numpy can do without")
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(disabled), "OPENBLAS_CORETYPE": "Prescott"}
    done = subprocess.run(
        [sys.executable, "-c", _ON_ANOTHER_PROCESSOR, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not any(json.loads(done.stdout).get(name) for name in disabled)
    here, there, key = Lake(made_once.lake), Lake(tmp_path), {"category": "B1"}
    for table in (schemas.PROBLEMS, schemas.SPECTRA, schemas.NOISY_SPECTRA):
        assert_close(here.read(table, key), there.read(table, key))
    names = ["problem_id", "prompt", "prompt_hash"]
    assert here.read(schemas.PROMPTS, key, names).equals(there.read(schemas.PROMPTS, key, names))


def assert_close(one: pa.Table, other: pa.Table) -> None:
    """Same texts and whole numbers; floats within 1e-9 of the largest of their kind in the row."""
    for name in one.column_names:
        for left, right in zip(one.column(name).to_pylist(), other.column(name).to_pylist(), strict=True):
            if isinstance(left, float) or (isinstance(left, list) and left and isinstance(left[0], float)):
                scale = float(np.abs(left).max()) or 1.0
                assert np.abs(np.asarray(left) - np.asarray(right)).max() <= 1e-9 * scale, name
            elif name == "parameters":
                assert json.loads(left) == pytest.approx(json.loads(right), rel=1e-12)
            else:
                assert left == right, name
