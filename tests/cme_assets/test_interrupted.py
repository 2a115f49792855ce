"""Ctrl-C while models are asked: as a terminal sends it, to the whole process group of a real `make run`."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.settings import Settings
from tests.served_models import prompts_only, write_models
from tests.servers.faulty import FaultyServer, running

STOPPED = "stopped; what is finished is kept, run again to go on"
AT_ONCE = 2
SECONDS_TO_START, SECONDS_TO_STOP = 240.0, 60.0


def start(settings: Settings) -> subprocess.Popen[str]:
    environment = os.environ | {
        "CONDMAT_DATA": str(settings.data),
        "CONDMAT_PROFILE": "fast",
        "CONDMAT_MODELS": str(settings.models_file),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    environment.pop("DAGSTER_HOME", None)
    command = [sys.executable, "-m", "cme_assets.run"]
    return subprocess.Popen(
        command, env=environment, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def committed(settings: Settings) -> int:
    with sqlite3.connect(settings.data / "ledger.sqlite") as ledger:
        count: int = ledger.execute("SELECT count(*) FROM requests WHERE status = 'ok'").fetchone()[0]
        return count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "times"),
    [(signal.SIGINT, 1), (signal.SIGINT, 3), (signal.SIGTERM, 1)],
    ids=["once", "impatiently", "by SIGTERM"],
)
def test_an_interrupted_run_ends_in_a_line_and_asks_again_only_what_is_missing(
    made_once: Settings, tmp_path: Path, number: signal.Signals, times: int
) -> None:
    settings = prompts_only(made_once, tmp_path)
    server = FaultyServer(latency=0.5)
    with running(server) as address:
        write_models(settings, f"{address}/v1", "slow", max_concurrency=AT_ONCE)
        process = start(settings)
        # Some are answered and others on their way.
        wait_until(lambda: len(server.log.answered) >= 3 and len(server.log.asked) > len(server.log.answered), process)
        for _ in range(times):
            os.killpg(process.pid, number)
            time.sleep(0.1)
        _, said = process.communicate(timeout=SECONDS_TO_STOP)
        kept, asked = committed(settings), len(server.log.asked)
        assert process.returncode == 130, said
        assert said.splitlines()[-1] == STOPPED
        assert said.count("stopped") == 1
        assert "Traceback" not in said, said
        assert "Error" not in said
        assert 0 < kept < 10
        assert asked - kept <= 2 * AT_ONCE
        server.latency = 0.0
        again = start(settings)
        _, said = again.communicate(timeout=SECONDS_TO_START)
    assert again.returncode == 0, said
    assert len(server.log.asked) - asked == 10 - kept
    assert committed(settings) == 10
