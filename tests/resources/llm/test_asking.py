"""What a run says of its progress, and when."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from resources.llm import asking, run
from resources.llm.answer import Answer, Tally
from resources.llm.asking import Lines
from resources.llm.budget import Budget
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.retry import RetryPolicy
from resources.llm.run import ask_all_now
from resources.llm.spending import announce
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from tests.servers.faulty import FaultyServer, running

from .conftest import ENVIRONMENT


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, to be set."""
    now = [0.0]
    monkeypatch.setattr(asking.time, "monotonic", lambda: now[0])
    return now


def test_a_line_every_few_seconds_with_news_and_every_minute_without(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    tally, lines = Tally(total=3), Lines("slow", logging.getLogger("lines"))
    said: dict[int, str] = {}
    answer = Answer(ChatRequest([]), "", Status.OK)
    for second in range(400):
        clock[0] = float(second)
        if second in (10, 12, 300):
            tally.add(answer)
        caplog.clear()
        lines(tally)
        for record in caplog.records:
            said[second] = record.getMessage().removeprefix("slow: ")
    assert {second: text.split(" (")[0] for second, text in said.items()} == {
        10: "1 / 3 done",
        16: "2 / 3 done",
        **dict.fromkeys((77, 138, 199, 260), "2 / 3 done"),
        300: "3 / 3 done",
        361: "3 / 3 done",
    }
    assert said[199].endswith("; no answer for 187 s")
    assert "no answer" not in said[16]


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0.0, "$0.00"), (5.0, "$5.00"), (12.5, "$12.50"), (0.002, "$0.002"), (1e-6, "$0.000001"), (1.005, "$1.005")],
)
def test_a_ceiling_is_said_as_it_was_set(
    usd: float, shown: str, entry_for: Callable[..., ModelEntry], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    announce(entry_for("openai", "http://127.0.0.1:9"), Budget("r", day_usd=usd), logging.getLogger("asked"))
    assert f"may spend money, up to {shown} today" in caplog.text


def test_progress_is_told_while_nothing_is_answered(
    ledger: Ledger, entry_for: Callable[..., ModelEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "PROGRESS_SECONDS", 0.05)
    seen: list[int] = []
    with running(FaultyServer(latency=1.5)) as address:
        question = ChatRequest([{"role": "user", "content": "q"}])
        answers = ask_all_now(
            *([question], entry_for("openai", address), ledger, ENVIRONMENT),
            progress=lambda tally: seen.append(tally.done),
            policy=RetryPolicy(try_seconds=60),
        )
        assert [answer.status for answer in answers] == [Status.OK]
    assert seen.count(0) > 3
    assert seen[-1] == 1
