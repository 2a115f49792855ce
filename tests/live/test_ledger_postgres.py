"""The ledger on a real PostgreSQL server: the same tests as on SQLite, and runs in several processes at once.

Needs PostgreSQL's server programs (Debian: `postgresql`) and the extra `postgres`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

sys.path.insert(0, str(Path(__file__).parents[2]))

from resources.llm.client import UNRECORDED
from resources.llm.export import export
from resources.llm.ledger import Ledger
from resources.llm.run import ask_all_now
from resources.outcomes import Status
from tests.resources.llm.asking import entry, requests
from tests.resources.llm.test_killed import receive, start
from tests.resources.llm.test_ledger import (  # noqa: F401  run here once more, with this module's ledger
    test_a_claim_holds_against_others_until_it_is_released_or_its_process_is_dead,
    test_a_claim_of_another_machine_lapses_unless_renewed,
    test_a_day_is_shared_and_a_run_is_not,
    test_a_final_answer_comes_back_as_it_was_stored,
    test_failures_of_ours_are_asked_again,
    test_the_first_answer_stays_when_a_lapsed_claim_answers_too,
)
from tests.servers.faulty import FaultyServer, running

pytestmark = pytest.mark.live


def _programs() -> Path | None:
    found = shutil.which("pg_ctl")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders and (folders[-1] / "initdb").exists() else None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server of its own, on a socket in a temporary folder; gives the folder."""
    programs = _programs()
    if programs is None:
        message = "no PostgreSQL server programs here (Debian: apt-get install postgresql)"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    # PostgreSQL refuses to run as root, and a socket's path must be short.
    own: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        if own:
            shutil.chown(folder, "postgres", "postgres")
        data = f"{folder}/data"
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"

        def run(*command: str) -> None:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **own)
            assert done.returncode == 0, done.stdout + done.stderr

        run(str(programs / "initdb"), "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
        control = str(programs / "pg_ctl")
        run(control, "-D", data, "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield folder
        finally:
            run(control, "-D", data, "-m", "immediate", "-w", "stop")


@pytest.fixture
def url(server: str) -> str:
    """The address of a new database."""
    base = f"postgresql+psycopg2://tester@/{{}}?host={server}"
    engine = create_engine(base.format("postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS ledger WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE ledger"))
    engine.dispose()
    return base.format("ledger")


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    with Ledger(url) as opened:
        yield opened


def test_three_processes_share_a_new_ledger_and_ask_everything_once(url: str, tmp_path: Path) -> None:
    mock = FaultyServer(latency=0.05)
    with running(mock) as address:
        # They also bring the new database to its schema, all three at once.
        processes = [start(url, address, 300) for _ in range(3)]
        given = [receive(answers, 1_000) for _, answers in processes]
        for process, _ in processes:
            process.join(60)
        assert [process.exitcode for process, _ in processes] == [0, 0, 0]
        assert [len(set(hashes)) for hashes in given] == [300, 300, 300]
        assert Counter(mock.log.answered.values()) == {1: 300}
        with Ledger(url) as ledger:
            answers = list(ask_all_now(requests(300), entry(address), ledger, {}))
    assert {(answer.status, answer.from_ledger) for answer in answers} == {(Status.OK, True)}
    assert export(url, tmp_path / "out.parquet") == 300


def test_a_killed_run_goes_on(url: str) -> None:
    mock = FaultyServer(latency=0.05)
    with running(mock) as address:
        for answers_before in (5, 20, 40):
            process, answers = start(url, address, 150)
            receive(answers, answers_before)
            process.kill()
            process.join()
        with Ledger(url) as ledger:
            finished = list(ask_all_now(requests(150), entry(address), ledger, {}))
    assert {answer.status for answer in finished} == {Status.OK}
    assert len(mock.log.answered) == 150
    assert sum(mock.log.answered.values()) <= 150 + 3 * UNRECORDED * entry(address).max_concurrency
