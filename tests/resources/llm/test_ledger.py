"""The ledger by itself: identity, claims, attempts, size, opening by several processes at once."""

from __future__ import annotations

import multiprocessing
import random
import sqlite3
import time
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import resources.llm
from resources.llm.budget import Budget
from resources.llm.database import LedgerError, open_engine, reading
from resources.llm.ledger import Ledger
from resources.llm.owner import new_owner
from resources.llm.records import Attempt, ClaimState, Exchange, Opening, Settlement
from resources.llm.request import WireRequest, wire_request
from resources.llm.schema import REVISION, metadata
from resources.llm.usage import Usage
from resources.outcomes import Status

FREE = Budget("run")


def wire(text: str = "hello", repeat: int = 0, **parameters: object) -> WireRequest:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **parameters}
    return wire_request(body, provider="openai", endpoint="https://h/v1", repeat=repeat, purpose="p")


def attempt(status: Status = Status.OK, response: bytes | None = b'{"a":1}', cost: float | None = None) -> Attempt:
    return Attempt(10.0, 12.0, status, http_status=200, response=response, usage=Usage(5, 1, 0, 2, 1), cost_usd=cost)


def claim(ledger: Ledger, owner: str, *openings: Opening, budget: Budget = FREE) -> list[ClaimState]:
    return [its.state for its in ledger.exchange(owner, Exchange([], list(openings)), budget)]


def settle(ledger: Ledger, owner: str, *settlements: Settlement, budget: Budget = FREE) -> None:
    ledger.exchange(owner, Exchange(list(settlements), []), budget)


def test_identity_is_what_reaches_the_wire_and_the_repeat() -> None:
    same = wire_request(
        {"messages": [{"content": "hello", "role": "user"}], "model": "m"},
        provider="openai",
        endpoint="https://h/v1",
        repeat=0,
        purpose="another label",
    )
    assert wire().hash == same.hash
    others = [wire("hello "), wire(repeat=1), wire(temperature=0.7), wire(max_tokens=5), wire("x" * 5_000)]
    assert len({wire().hash, *(other.hash for other in others)}) == 1 + len(others)
    assert wire(repeat=1).prompt_hash == wire().prompt_hash


def test_a_final_answer_comes_back_as_it_was_stored(ledger: Ledger) -> None:
    me, request = new_owner(), wire("x" * 5_000)
    assert claim(ledger, me, Opening(request)) == [ClaimState.MINE]
    failed = Attempt(1.0, 2.0, Status.PROVIDER_ERROR, error="HTTP 500: \0 it broke", http_status=500, response=b"\xff")
    settle(ledger, me, Settlement(request.hash, failed))
    final = attempt(cost=0.5)
    settle(ledger, me, Settlement(request.hash, final, Status.OK, 0.5))
    stored = ledger.lookup([request.hash, "unknown"])
    assert list(stored) == [request.hash]
    assert stored[request.hash].attempt == final
    assert stored[request.hash].attempts == 2
    assert ledger.body(request.hash) == request.body
    assert claim(ledger, "other|1|1|1", Opening(request)) == [ClaimState.ANSWERED]


def test_failures_of_ours_are_asked_again(ledger: Ledger) -> None:
    me, request = new_owner(), wire()
    claim(ledger, me, Opening(request))
    settle(ledger, me, Settlement(request.hash, attempt(Status.PROVIDER_ERROR), Status.PROVIDER_ERROR))
    assert ledger.lookup([request.hash]) == {}
    assert claim(ledger, me, Opening(request)) == [ClaimState.MINE]


def test_a_claim_holds_against_others_until_it_is_released_or_its_process_is_dead(ledger: Ledger) -> None:
    me, request = new_owner(), wire()
    dead = me.rsplit("|", 2)[0] + "|0.00|1"  # our number, but begun in 1970: another process had it
    elsewhere = "another-machine|1|1.00|1"
    assert claim(ledger, dead, Opening(request)) == [ClaimState.MINE]
    assert claim(ledger, me, Opening(request), Opening(request)) == [ClaimState.MINE, ClaimState.HELD]
    assert claim(ledger, elsewhere, Opening(request)) == [ClaimState.HELD]
    ledger.release(me)
    assert claim(ledger, elsewhere, Opening(request)) == [ClaimState.MINE]
    assert claim(ledger, me, Opening(request)) == [ClaimState.HELD]


def test_a_claim_of_another_machine_lapses_unless_renewed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    request = wire()
    claim(ledger, "another-machine|1|1.00|1", Opening(request))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 80)
    ledger.renew("another-machine|1|1.00|1")
    monkeypatch.setattr(time, "time", lambda: now + 160)
    assert claim(ledger, new_owner(), Opening(request)) == [ClaimState.HELD]
    monkeypatch.setattr(time, "time", lambda: now + 180)
    assert claim(ledger, new_owner(), Opening(request)) == [ClaimState.MINE]


def test_the_first_answer_stays_when_a_lapsed_claim_answers_too(ledger: Ledger) -> None:
    late, me, request = "another-machine|1|1.00|1", new_owner(), wire()
    claim(ledger, late, Opening(request))
    ledger.release(late)
    claim(ledger, me, Opening(request))
    settle(ledger, me, Settlement(request.hash, attempt(response=b'"first"'), Status.OK))
    settle(ledger, late, Settlement(request.hash, attempt(response=b'"second"'), Status.OK))
    stored = ledger.lookup([request.hash])[request.hash]
    assert (stored.attempt.response, stored.attempts) == (b'"first"', 2)


def test_a_day_is_shared_and_a_run_is_not(ledger: Ledger) -> None:
    budget = Budget("one", run_usd=1.0, day_usd=2.5)
    me, other = new_owner(), "another-machine|1|1.00|1"
    first = claim(ledger, me, *(Opening(wire(str(i)), 0.4) for i in range(3)), budget=budget)
    assert first == [ClaimState.MINE, ClaimState.MINE, ClaimState.NO_MONEY_YET]
    # Another run of the same day: 2.5 less the 0.8 that the first may still cost.
    openings = [Opening(wire(f"other {i}"), 0.4) for i in range(5)]
    others = claim(ledger, other, *openings, budget=Budget("two", day_usd=2.5))
    assert others == [ClaimState.MINE] * 4 + [ClaimState.NO_MONEY_YET]
    for i in range(2):
        settle(ledger, me, Settlement(wire(str(i)).hash, attempt(cost=0.45), Status.OK, 0.45), budget=budget)
    assert ledger.spent(budget)["run one"] == pytest.approx(0.9)
    ledger.release(other)
    assert claim(ledger, me, Opening(wire("2"), 0.4), budget=budget) == [ClaimState.NO_MONEY]
    assert claim(ledger, me, Opening(wire("2"), 0.05), budget=budget) == [ClaimState.MINE]
    assert claim(ledger, me, Opening(wire("3"), None), budget=budget) == [ClaimState.NO_MONEY]


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf")])
def test_a_senseless_budget_is_refused(usd: float) -> None:
    with pytest.raises(ValueError, match="is no ceiling"):
        Budget("run", run_usd=usd)


def test_repeats_of_long_prompts_take_hardly_any_room(tmp_path: Path) -> None:
    """190 prompts of 400 KB with three repeats: less than 3 MB beyond one copy of the prompts, here a tenth of each."""
    chance = random.Random(1)
    texts = ["\t".join(str(chance.randrange(1000)) for _ in range(100_000)) for _ in range(19)]
    sizes = []
    for repeats in (1, 3):
        path = tmp_path / f"{repeats}.sqlite"
        with Ledger(f"sqlite:///{path}") as ledger:
            me = new_owner()
            requests = [wire(text, repeat) for text in texts for repeat in range(repeats)]
            assert set(claim(ledger, me, *map(Opening, requests))) == {ClaimState.MINE}
            reply = b'{"choices":[{"message":{"content":"' + b"1.234, " * 100 + b'"}}]}'
            settle(ledger, me, *(Settlement(r.hash, attempt(response=reply), Status.OK) for r in requests))
        sizes.append(sum(file.stat().st_size for file in tmp_path.glob(f"{repeats}.sqlite*")))
    prompts = sum(map(len, texts))
    assert sizes[0] < prompts
    assert sizes[1] - sizes[0] < 0.3e6


def test_migrations_and_tables_agree(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'l.sqlite'}")
    with reading(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
    config = Config()
    config.set_main_option("script_location", str(Path(resources.llm.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == REVISION


def _open(path: str) -> None:
    Ledger(f"sqlite:///{path}").close()


def test_several_processes_may_open_a_new_ledger_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "deep" / "ledger.sqlite")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_open, args=(path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISION,)]


@pytest.mark.parametrize(
    "url", ["mysql://h/d", "nonsense", "sqlite://", "", "postgresql+psycopg2://u:hidden-word@127.0.0.1:9/d"]
)
def test_an_unusable_address_is_one_line_without_a_password(url: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger(url)
    message = str(caught.value)
    assert "\n" not in message
    assert "hidden-word" not in message


def test_files_that_are_no_ledger_of_ours_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, but a text of some length\n" * 50)
    with pytest.raises(LedgerError, match="not a database"):
        Ledger(f"sqlite:///{tmp_path / 'text'}")
    _open(str(tmp_path / "newer"))
    with sqlite3.connect(tmp_path / "newer") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(LedgerError, match="newer version"):
        Ledger(f"sqlite:///{tmp_path / 'newer'}")
