"""Runs that are killed at any moment, and runs beside each other: nothing is lost and nothing is paid for twice."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sqlite3
import time
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from resources.llm.client import QUICK_SECONDS, UNRECORDED
from resources.llm.ledger import Ledger
from resources.llm.run import ask_all_now
from resources.outcomes import Status
from tests.resources.llm.asking import entry, requests, run
from tests.servers.faulty import FaultyServer, running

COUNT = 500
# Every run is a fresh process, forked from one that has the imports done.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.resources.llm.asking", "resources.llm.providers.openai_chat"])


def start(url: str, address: str, count: int = COUNT) -> tuple[ForkServerProcess, Connection]:
    answers, theirs = processes.Pipe(duplex=False)
    process = processes.Process(target=run, args=(url, address, count, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, answers


def receive(answers: Connection, count: int) -> list[str]:
    """Up to `count` answers, fewer when the run ends."""
    found: list[str] = []
    try:
        while len(found) < count:
            found.append(answers.recv())
    except EOFError:
        pass
    return found


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.slow
def test_a_run_killed_at_twenty_moments_pays_at_most_for_those_in_flight_again(tmp_path: Path) -> None:
    path, chance = tmp_path / "ledger.sqlite", random.Random(7)
    url = f"sqlite:///{path}"
    given: set[str] = set()
    server = FaultyServer(latency=0.05)
    kills = 0
    with running(server) as address:
        for _ in range(20):
            process, answers = start(url, address)
            # Killed after a number of answers drawn by chance: the moment then depends on nothing but the run.
            given.update(receive(answers, chance.randrange(30)))
            time.sleep(chance.random() * 0.1)
            process.kill()
            given.update(receive(answers, COUNT))
            process.join()
            kills += process.exitcode == -signal.SIGKILL
        with Ledger(url) as ledger:
            finished = list(ask_all_now(requests(COUNT), entry(address), ledger, {}))
        seen = Counter(server.log.answered)
    assert kills >= 15
    assert {answer.status for answer in finished} == {Status.OK}
    assert len({answer.hash for answer in finished}) == COUNT == len(seen)
    # Every answer that a killed run had given is still there, and was not asked again.
    assert given <= {answer.hash for answer in finished if answer.from_ledger}
    assert sum(seen.values()) - COUNT <= kills * UNRECORDED * entry("http://x").max_concurrency
    assert rows(path, "SELECT count(*), count(DISTINCT hash) FROM requests WHERE status = 'ok'") == [(COUNT, COUNT)]
    assert rows(path, "SELECT count(*) FROM attempts WHERE status = 'ok'") == [(COUNT,)]
    assert rows(path, "SELECT count(*) FROM requests WHERE claimed_by IS NOT NULL") == [(0,)]


def test_two_runs_of_one_evaluation_ask_everything_once(tmp_path: Path) -> None:
    url, server = f"sqlite:///{tmp_path / 'ledger.sqlite'}", FaultyServer(latency=0.05)
    with running(server) as address:
        both = [start(url, address, 200) for _ in range(2)]
        given = [receive(answers, 1_000) for _, answers in both]
        for process, _ in both:
            process.join(60)
    assert [process.exitcode for process, _ in both] == [0, 0]
    assert [len(set(hashes)) for hashes in given] == [200, 200]
    assert set(server.log.answered.values()) == {1}
    assert len(server.log.answered) == 200


def test_slow_replies_are_recorded_before_others_are_asked_in_their_place(tmp_path: Path) -> None:
    """What a kill can lose is what was asked and not recorded: at no time more than the concurrency."""
    path, server = tmp_path / "ledger.sqlite", FaultyServer(latency=QUICK_SECONDS + 0.1)
    most = 0
    with running(server) as address:
        process, _ = start(f"sqlite:///{path}", address, 60)
        while process.is_alive():
            asked = len(server.log.asked)
            # Read before the ledger is: what is recorded meanwhile only makes the difference smaller.
            recorded = rows(path, "SELECT count(*) FROM attempts")[0][0] if asked else 0
            most = max(most, asked - int(str(recorded)))
            time.sleep(0.005)
        process.join()
    assert process.exitcode == 0
    assert rows(path, "SELECT count(*) FROM attempts WHERE status = 'ok'") == [(60,)]
    assert 1 < most <= entry("http://x").max_concurrency
