"""Usage in one form, costs by hand, estimates and exports."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from resources.llm.estimate import estimate
from resources.llm.export import SCHEMA, export
from resources.llm.ledger import Ledger
from resources.llm.outcome import Failure, http_failure, network_failure
from resources.llm.pricing import cost_usd, most_usd
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all_now
from resources.llm.tokens import prompt_tokens, text_tokens
from resources.llm.usage import Usage, anthropic_usage, openai_usage
from resources.llm.wording import in_all
from resources.model_entry import Capabilities, ModelEntry, Parameters
from tests.servers.faulty import FaultyServer, running

from .conftest import ENVIRONMENT, QUICK

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 3}, Usage(10, None, None, 3, None)),
        (
            {
                "prompt_tokens": 2006,
                "completion_tokens": 300,
                "prompt_tokens_details": {"cached_tokens": 1920, "cache_write_tokens": 80},
                "completion_tokens_details": {"reasoning_tokens": 256},
            },
            Usage(2006, 1920, 80, 300, 256),
        ),
        # DeepSeek's names.
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 1},
            Usage(9, 8, None, 1, None),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": None}, Usage(9, None, None, 1, None)),
        # What cannot be is not believed.
        ({"prompt_tokens": -1, "completion_tokens": True}, Usage()),
        (
            {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}},
            Usage(5, None, None, 1),
        ),
        (None, Usage()),
        ("many", Usage()),
    ],
)
def test_openai_usage(raw: Any, usage: Usage) -> None:
    assert openai_usage(raw) == usage


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({"input_tokens": 50, "output_tokens": 503}, Usage(50, None, None, 503, None)),
        # The published example: 188,086 read, 456 written beside 21 fresh.
        (
            {
                "input_tokens": 21,
                "cache_creation_input_tokens": 456,
                "cache_read_input_tokens": 188_086,
                "output_tokens": 393,
                "output_tokens_details": {"thinking_tokens": 100},
            },
            Usage(188_563, 188_086, 456, 393, 100),
        ),
        ({"input_tokens": "x", "output_tokens": 1}, Usage(None, None, None, 1, None)),
        (None, Usage()),
    ],
)
def test_anthropic_usage(raw: Any, usage: Usage) -> None:
    assert anthropic_usage(raw) == usage


def priced(**fields: Any) -> ModelEntry:
    prices = [
        {"since": "2026-01-01", "input": 3, "cached_input": 0.3, "cache_write": 3.75, "output": 15},
        {"since": "2026-07-01", "input": 2, "output": 10},
    ]
    plain = {"name": "m", "provider": "anthropic", "model": "m", "key_env": "K", "prices": prices}
    return ModelEntry.model_validate(plain | fields)


def test_cost_by_hand() -> None:
    usage = Usage(1_000_000, 600_000, 100_000, 20_000, 5_000)
    # 0.3 M fresh at 3, 0.6 M read at 0.3, 0.1 M written at 3.75, 0.02 M out at 15 (reasoning is part of it).
    assert cost_usd(priced(), usage, NOON) == pytest.approx(0.9 + 0.18 + 0.375 + 0.3)
    assert cost_usd(priced(), usage, NOON, batch=True) == pytest.approx((0.9 + 0.18 + 0.375 + 0.3) / 2)
    july = datetime(2026, 7, 1, 0, 0, 1, tzinfo=UTC).timestamp()
    assert cost_usd(priced(), usage, july) == pytest.approx(2.0 + 0.2)
    assert cost_usd(priced(), usage, datetime(2025, 12, 31, tzinfo=UTC).timestamp()) is None
    assert cost_usd(priced(), Usage(10, 0, 0, None), NOON) is None
    assert cost_usd(priced(prices=[], free=True), Usage(), NOON) == 0.0
    assert most_usd(priced(), 1_000, 1_000, NOON) == pytest.approx((3.75 + 15) / 1_000)


def test_tokens_are_those_of_the_encoding() -> None:
    # Known from OpenAI's own examples: "tiktoken is great!" is six tokens.
    assert text_tokens("tiktoken is great!") == 6
    table = "\n".join("\t".join(str((7 * i * j) % 1000) for j in range(100)) for i in range(300))
    sampled = text_tokens(table)
    exact = sum(text_tokens(line + "\n") for line in table.split("\n"))
    assert sampled == pytest.approx(exact, rel=0.1)
    assert prompt_tokens({"messages": [{"role": "user", "content": "tiktoken is great!"}]}) == pytest.approx(6, abs=12)


def test_estimate_by_hand(ledger: Ledger) -> None:
    long = "alpha beta gamma delta " * 1_000
    entry = priced(
        capabilities=Capabilities(cache="cache_control", batch=True, temperature=False), context_length=6_000
    )
    entry = entry.model_copy(update={"prices": entry.prices[:1], "parameters": Parameters(max_output_tokens=500)})
    asked = [ChatRequest([{"role": "user", "content": long}], repeat=repeat) for repeat in range(3)]
    asked.append(ChatRequest([{"role": "user", "content": long + long}]))
    guess = estimate(asked, entry, ledger, expected_completion=100)
    one = prompt_tokens({"messages": asked[0].messages})
    two = prompt_tokens({"messages": asked[3].messages})
    assert (guess.requests, guess.answered, guess.completion_tokens, guess.too_long) == (4, 0, 400, 1)
    assert guess.prompt_tokens == 3 * one + two
    assert guess.usd == pytest.approx(((3 * one + two) * 3 + 400 * 15) / 1e6)
    # The first of three is written, two are read, the single one is plain.
    assert guess.usd_cached == pytest.approx((one * 3.75 + 2 * one * 0.3 + two * 3 + 400 * 15) / 1e6)
    assert guess.usd_batch == pytest.approx((guess.usd or 0) / 2)
    assert guess.usd_most == pytest.approx(((3 * one + two) * 3.75 + 4 * 500 * 15) / 1e6)
    tokens = f"about {3 * one + two:,} prompt and 400 reply tokens"
    assert str(guess).startswith(f"m: 4 requests, {tokens}, $0.0")
    assert str(guess).endswith("; prompts that do not fit the context: 1")
    unpriced = estimate(asked, priced(prices=[]), ledger, expected_completion=100)
    assert unpriced.usd is None
    assert "unknown price" in str(unpriced)


def test_estimate_leaves_out_what_is_answered(ledger: Ledger, entry_for: Callable[..., ModelEntry]) -> None:
    asked = [ChatRequest([{"role": "user", "content": f"q{i} x"}]) for i in range(5)]
    with running(FaultyServer()) as address:
        entry = entry_for("openai", address)
        list(ask_all_now(asked[:3], entry, ledger, ENVIRONMENT))
        guess = estimate(asked, entry, ledger, expected_completion=10)
    assert (guess.requests, guess.answered) == (2, 3)
    assert ": 2 requests (3 requests are answered already), about " in str(guess)


def test_equal_requests_are_counted_once_as_they_are_asked(
    ledger: Ledger, entry_for: Callable[..., ModelEntry]
) -> None:
    # More than are looked up at a time, so that equal ones meet within a part and across parts.
    asked = [ChatRequest([{"role": "user", "content": f"q{i % 70} x"}]) for i in range(140)]
    with running(FaultyServer()) as address:
        entry = entry_for("openai", address)
        guess = estimate([*asked, *asked[:3]], entry, ledger, expected_completion=10, kept=1)
        assert (guess.requests, guess.answered, guess.completion_tokens) == (70, 1, 700)
        list(ask_all_now(asked[:1], entry, ledger, ENVIRONMENT))
        guess = estimate([*asked, *asked[:3]], entry, ledger, expected_completion=10)
    assert (guess.requests, guess.answered) == (69, 1)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([(1.0, 1.0), (0.5, 0.5)], "in all $1.50; nobody was asked"),
        (
            [(1000.0, 2000.5), None],
            "in all $1,000.00 to $2,000.50, and 1 line has no price or no estimate; nobody was asked",
        ),
        ([None, None], "no sum: 2 lines have no price or no estimate; nobody was asked"),
        ([(0.001, 0.2)], "in all less than $0.01 to $0.20; nobody was asked"),
        ([(0.0, 0.0)], "in all $0.00; nobody was asked"),
        ([], "there is no model to ask; nobody was asked"),
    ],
)
def test_a_sum_says_what_is_not_in_it(lines: list[tuple[float, float] | None], words: str) -> None:
    assert in_all(lines) == words


@pytest.mark.parametrize(
    ("failure", "usd"),
    [
        (http_failure(500, b"busy"), 0.0),
        (http_failure(401, b"who?"), 0.0),
        (network_failure("connection", OSError("refused"), unbilled=True), 0.0),
        (network_failure("time-out", TimeoutError()), None),
        (network_failure("malformed reply", ValueError()), None),
    ],
)
def test_the_cost_of_what_was_never_served_and_of_what_got_lost(failure: Failure, usd: float | None) -> None:
    for entry in (priced(), priced(prices=[])):
        assert cost_usd(entry, failure.usage, NOON) == usd
    assert cost_usd(priced(prices=[], free=True), failure.usage, NOON) == 0.0


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
@pytest.mark.usefixtures("short_pauses")
def test_an_export_has_every_try_with_request_and_response(
    ending: str, tmp_path: Path, entry_for: Callable[..., ModelEntry]
) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    long = "first " + "z" * 3_000
    with Ledger(url) as ledger, running(FaultyServer()) as address:
        entry = entry_for("openai", address, parameters=Parameters(max_output_tokens=20_000))
        asked = [ChatRequest([{"role": "user", "content": text}]) for text in (long, "second [fault:server_error*1]")]
        list(ask_all_now(asked, entry, ledger, ENVIRONMENT, policy=QUICK))
    target = tmp_path / f"out.{ending}"
    assert export(url, target) == 3
    if ending == "parquet":
        rows = pq.read_table(target).to_pylist()
    else:
        rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [list(row) for row in rows] == [SCHEMA.names] * 3
    by_try = {(row["hash"], row["number"]): row for row in rows}
    answers = [row for row in rows if row["is_answer"]]
    assert len(answers) == 2
    assert {row["final_status"] for row in rows} == {"ok"}
    request = next(json.loads(r["request"]) for r in answers if long in r["request"])
    assert request == {
        "model": "wire-model",
        "messages": [{"role": "user", "content": long}],
        "max_tokens": 20_000,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    second = next(row for row in answers if "second" in row["request"])
    assert json.loads(second["response"])["choices"][0]["message"]["content"].strip() == "answer to second"
    failed = by_try[second["hash"], 1]
    assert (failed["status"], failed["http_status"]) == ("provider_error", 500)
    assert (failed["cost_usd"], failed["prompt_tokens"], failed["completion_tokens"]) == (0.0, 0, 0)
    assert "it broke" in failed["error"]
    assert sorted(path.name for path in tmp_path.glob("*out*")) == [f"out.{ending}"]


def test_an_export_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="end the name with"):
        export(f"sqlite:///{tmp_path / 'ledger.sqlite'}", tmp_path / "out.csv")
