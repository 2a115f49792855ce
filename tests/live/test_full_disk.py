"""`make run` on a disk that fills up at different stages: one line each time, and with space it goes on from there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
ONE_RUN = f"{sys.executable} -m cme_assets.run > $LOGS/out 2> $LOGS/err; echo $?"
# A disk of its own in a mount namespace of its own: nothing of it is seen outside, and it ends with the process.
SCRIPT = f"""
mount -t tmpfs -o size=$SIZE tmpfs "$CONDMAT_DATA" || exit 99
{ONE_RUN}
cp $LOGS/err $LOGS/full
find "$CONDMAT_DATA/lake" -name data.parquet -exec stat -c '%n %Y' {{}} + | sort > $LOGS/kept
mount -o remount,size=500m "$CONDMAT_DATA"
{ONE_RUN}
find "$CONDMAT_DATA/lake" -name data.parquet -exec stat -c '%n %Y' {{}} + | sort > $LOGS/after
"""
STAGES = {"300k": "Dagster's folder", "1m": "maps", "2m": "scores", "4m": "parsing the reports", "10m": "the tables"}


@pytest.mark.parametrize("size", STAGES, ids=STAGES.values())
def test_a_full_disk_is_one_line_and_what_is_finished_is_kept(size: str, tmp_path: Path) -> None:
    data, logs, models = tmp_path / "data", tmp_path / "logs", tmp_path / "models.yaml"
    data.mkdir()
    logs.mkdir()
    models.write_text(yaml.safe_dump({"models": [{"name": "centre", "provider": "reference"}]}))
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": str(ROOT), "LOGS": str(logs), "SIZE": size}
    environment |= {"CONDMAT_DATA": str(data), "CONDMAT_PROFILE": "fast", "CONDMAT_MODELS": str(models)}
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", SCRIPT],
        env=environment, cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["1", "0"], done.stdout + done.stderr + (logs / "err").read_text()
    said = (logs / "full").read_text()
    assert "Traceback" not in said
    last = said.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert str(data) in last
    assert "free some space" in last
    kept = set((logs / "kept").read_text().splitlines())
    assert kept <= set((logs / "after").read_text().splitlines())
