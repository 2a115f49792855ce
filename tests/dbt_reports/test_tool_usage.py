"""Reports on tool usage from a small lake whose numbers are worked out by hand here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from dbt_reports.build import build_reports
from mattools_assets.tool_usage.tables import TOOL_QUESTIONS, TOOL_SCORES
from resources.lake import Lake
from resources.settings import read_settings

# Properties by question.
OWN = {"a": ["x", "y"], "b": ["z"], "c": ["u", "v", "w"]}
PUBLISHED = {"test_a": ["p", "q"], "test_b": ["r"]}
BEFORE = [name for name in TOOL_SCORES.schema.names if name not in ("documents", "embedder")]


def question(question_set: str, name: str, properties: list[str]) -> dict[str, Any]:
    return {
        "question_set": question_set,
        "question_id": name,
        "topic": "topic",
        "text": "What?",
        "properties": [{"name": each, "asked": "float", "expected": "1"} for each in properties],
        "files": [],
        "data_at_hand": True,
        "question_hash": name,
        "verification_hash": name,
    }


def score(name: str, findings: dict[str, str] | None, properties: list[str], **more: Any) -> dict[str, Any]:
    passed = None if findings is None else sum(each == "passed" for each in findings.values())
    shown = [{"property": each, "finding": found, "detail": "d"} for each, found in (findings or {}).items()]
    return {
        "model": "gpt-4o",
        "system": "rag-4",
        "origin": "live",
        "answered_as": "rag-4",
        "question_set": "own",
        "question_id": name,
        "repeat": 0,
        "mode": "corrected",
        "topic": "topic",
        "status": "ok" if findings is not None else "provider_error",
        "runnable": None if findings is None else any(found != "missing" for found in findings.values()),
        "n_passed": passed,
        "n_properties": len(properties),
        "findings": shown,
        "exception": None,
        "requests": 2,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "cost_usd": 0.25,
        "latency_s": 3.0,
        "question_hash": name,
        "verification_hash": name,
        "scorer_version": "1",
        "documents": "docstrings",
        "embedder": "bm25",
        **more,
    }


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path_factory.mktemp("tools"))})
    lake = Lake(settings.lake)
    questions = [question("own", *each) for each in OWN.items()]
    questions += [question("published", *each) for each in PUBLISHED.items()]
    questions.append(question("triplets", "d", ["s"]))
    lake.write(TOOL_QUESTIONS, {}, TOOL_QUESTIONS.rows(questions), {})
    first = [
        score("a", {"x": "passed", "y": "wrong_value"}, OWN["a"]),
        score("b", {"z": "passed"}, OWN["b"]),
        score("c", dict.fromkeys(OWN["c"], "missing"), OWN["c"], status="code_error", exception="KeyError"),
    ]
    second = [
        score("a", {"x": "passed", "y": "passed"}, OWN["a"], repeat=1),
        score("b", {"z": "wrong_type"}, OWN["b"], repeat=1),
        score("c", None, OWN["c"], repeat=1),
    ]
    paper = [
        score("test_a", {"p": "passed", "q": "none"}, PUBLISHED["test_a"], question_set="published", mode="paper"),
        score("test_b", None, PUBLISHED["test_b"], question_set="published", mode="paper", status="unverified"),
    ]
    lake.write(TOOL_SCORES, {"model": "gpt-4o", "system": "rag-4"}, TOOL_SCORES.rows([*first, *second, *paper]), {})
    for system, columns in (("single", TOOL_SCORES.schema.names), ("reflection", BEFORE)):
        key = {"model": "gpt-4o-mini", "system": system}
        alike = {"answered_as": system, "question_set": "triplets", "documents": None, "embedder": None}
        alone = TOOL_SCORES.rows([score("d", {"s": "passed"}, ["s"], **key, **alike)])
        path = lake.path(TOOL_SCORES, key)
        path.parent.mkdir(parents=True)
        pq.write_table(alone.select(columns), path)
    with duckdb.connect(build_reports(settings).database, read_only=True) as connection:
        yield connection


def rows(reports: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return reports.execute(query).fetchall()


def test_usage(reports: duckdb.DuckDBPyConnection) -> None:
    names = "repeats, n_questions, n_properties, coverage, runnable_rate, runnable_sd, task_success_rate"
    (own,) = rows(reports, f"select {names}, task_success_sd from mattools_tool_usage where question_set = 'own'")
    # Runnable 2 of 3 and 2 of 2; properties 2 of 6 and 2 of 3.
    rates = [(2 / 3 + 1) / 2, 1 / 6, (1 / 3 + 2 / 3) / 2, 1 / 6]
    assert own == (2, 3, 6, pytest.approx(5 / 6), *map(pytest.approx, rates))
    (published,) = rows(reports, f"select {names} from mattools_tool_usage where mode = 'paper'")
    assert published[:4] == (1, 2, 3, 0.5)
    assert published[-1] == 0.5
    columns = [row[0] for row in rows(reports, "describe mattools_tool_usage")]
    assert columns == [
        *("evaluation", "model", "system", "question_set", "mode", "origin", "repeats", "n_questions", "n_properties"),
        *("coverage", "runnable_rate", "runnable_sd", "task_success_rate", "task_success_sd", "ci_low", "ci_high"),
        *("documents", "embedder"),
    ]


def test_who_wrote_the_documents_is_said_and_nothing_where_there_were_none(
    reports: duckdb.DuckDBPyConnection,
) -> None:
    """A file of before the columns were there is read as one that says nothing."""
    for table in ("mattools_tool_usage", "mattools_tool_scores"):
        assert rows(reports, f"select distinct system, documents, embedder from {table} order by system") == [
            ("rag-4", "docstrings", "bm25"),
            ("reflection", None, None),
            ("single", None, None),
        ]
    (beside,) = rows(reports, "select documents, embedder from mattools_vs_published where evaluation is not null")
    assert beside == ("docstrings", "bm25")


def test_intervals_count_alike_properties_for_less(reports: duckdb.DuckDBPyConnection) -> None:
    """Ends of Wilson's interval are where the mean is just 1.96 standard errors away: (m - p)² = z² p (1 - p) / n."""

    def distances(condition: str, mean: float, count: float) -> list[float]:
        (ends,) = rows(reports, f"select ci_low, ci_high from mattools_tool_usage where {condition}")
        return [(mean - p) * (count / (p * (1 - p))) ** 0.5 for p in ends]

    # Means over repeats are 1 and 1/2, 1/2, and 0 thrice: 1/3 in the mean, and 5/6, 1/6 and -1 beyond it by question.
    # Variance 3/2 (25 + 1 + 36) / 36 / 6², which is 31/16 of the (1/3) (2/3) / 6 of independent ones: 96/31 properties.
    assert distances("question_set = 'own'", 1 / 3, 96 / 31) == pytest.approx([1.959964, -1.959964], abs=1e-6)
    # One question tells as much as one property.
    assert distances("mode = 'paper'", 1 / 2, 1) == pytest.approx([1.959964, -1.959964], abs=1e-6)


def test_by_question(reports: duckdb.DuckDBPyConnection) -> None:
    found = rows(
        reports,
        "select question_id, coverage, runnable_rate, task_success_rate, fully_right_rate from mattools_tool_questions"
        " where question_set = 'own' order by question_id",
    )
    assert found == [("a", 1.0, 1.0, 0.75, 0.5), ("b", 1.0, 1.0, 0.5, 0.5), ("c", 0.5, 0.0, 0.0, 0.0)]


def test_failures(reports: duckdb.DuckDBPyConnection) -> None:
    found = rows(
        reports,
        "select kind, failure, n_failures, share from mattools_failures where question_set = 'own'"
        " order by kind, failure",
    )
    # Six answers, and nine properties with a verdict.
    assert found == [
        ("exception", "KeyError", 1, pytest.approx(1 / 6)),
        ("property", "missing", 3, pytest.approx(3 / 9)),
        ("property", "wrong_type", 1, pytest.approx(1 / 9)),
        ("property", "wrong_value", 1, pytest.approx(1 / 9)),
        ("status", "code_error", 1, pytest.approx(1 / 6)),
        ("without verdict", "provider_error", 1, pytest.approx(1 / 6)),
    ]


def test_costs(reports: duckdb.DuckDBPyConnection) -> None:
    (found,) = rows(
        reports,
        "select n_answers, requests, cost_usd, n_passed, usd_per_passed_task from mattools_tool_costs"
        " where question_set = 'own'",
    )
    assert found == (6, 12, 1.5, 4, 0.375)


def test_beside_the_published(reports: duckdb.DuckDBPyConnection) -> None:
    ((rate, spread, ours, difference, coverage),) = rows(
        reports,
        "select published_task_success_rate, published_task_success_sd, task_success_rate, task_success_difference,"
        " coverage from mattools_vs_published where evaluation is not null",
    )
    # RAG over source 4 with GPT-4o passed 54, 57 and 53 of 138.
    mean = (54 + 57 + 53) / 3 / 138
    variance = sum((count / 138 - mean) ** 2 for count in (54, 57, 53)) / 3
    assert (rate, spread) == (pytest.approx(mean), pytest.approx(variance**0.5))
    # Half of the questions have no verdict, so that the rates are over other questions.
    assert (ours, difference, coverage) == (0.5, None, 0.5)
    # Two published means cannot be three runs of 138; the counts of the runs give these.
    known = dict(
        rows(
            reports,
            "select published_system || ' ' || published_model, round(100 * published_task_success_rate, 2)"
            " from mattools_vs_published where published_system in ('agentic_rag', 'graph_rag', 'single_llm')",
        )
    )
    assert known["agentic_rag gpt-4o-2024-08-06"] == 33.57
    assert known["single_llm gemini-2.0-flash-thinking-exp-01-21"] == 25.36
    assert known["graph_rag gpt-4o-2024-08-06"] == 22.22
    assert rows(reports, "select count(*) from mattools_published_tool_usage") == [(29,)]


def test_an_empty_lake_gives_empty_tables(tmp_path: Path) -> None:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path)})
    with duckdb.connect(build_reports(settings).database, read_only=True) as connection:
        for table in ("mattools_tool_usage", "mattools_tool_questions", "mattools_failures", "mattools_tool_costs"):
            assert connection.execute(f"select count(*) from {table}").fetchone() == (0,)
        assert connection.execute("select count(*) from mattools_vs_published").fetchone() == (29,)
