"""The agents' tables against sums done here."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import duckdb
import pytest

from cme_assets.schemas import CODE_RUNS, REACT_RUNS, scores_table
from dbt_reports.build import build_reports
from resources.lake import Lake
from resources.settings import Settings, read_settings
from tests.random_lake import OWN, Evaluation, write_problems, write_scores
from tests.random_lake import PUBLISHED as TIER_OF

MODEL = "gemini-3.1-pro"
PUBLISHED = {1: (0.46, 0.54), 2: (0.21, 0.43), 3: (0.29, 0.41)}
"""Direct and agent, from the paper's table of tiers."""

ENDINGS = {
    ("code", 0): [("examples", "ok"), ("test", "code_error")],
    ("code", 1): [("examples", "no_code")],
    ("react", 0): [("examples", "code_error"), ("examples", "ok"), ("examples", "ok"), ("test", "ok")],
    ("react", 1): [("examples", "code_error"), ("examples", "code_timeout")],
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path_factory.mktemp("data"))})
    lake = Lake(str(settings.lake))
    write_problems(lake, (*TIER_OF, *OWN))
    write_scores(
        lake,
        Evaluation(MODEL, best=0.4, seed=1),
        Evaluation(MODEL, best=0.6, protocol="code", seed=2),
        Evaluation(MODEL, best=0.8, protocol="react", seed=3),
        Evaluation(MODEL, best=0.9, protocol="react", variant="steps 20", seed=4),
        Evaluation("undirected", best=0.9, protocol="react", seed=5),
    )
    for table, protocol in ((CODE_RUNS, "code"), (REACT_RUNS, "react")):
        # Runs on categories of one's own are in no total.
        for category in ("A1", *OWN):
            rows = [run_row(protocol, category, level, ENDINGS[protocol, level]) for level in (0, 1)]
            lake.write(table, {"model": MODEL, "category": category}, table.rows(rows), {})
    return settings


@pytest.fixture(scope="module")
def database(settings: Settings) -> Path:
    return build_reports(settings).database


def run_row(protocol: str, category: str, level: int, endings: list[tuple[str, str]]) -> dict[str, Any]:
    texts = dict.fromkeys(("message", "reasoning", "output"), "")
    zeros = dict.fromkeys(("wall_s", "cost_usd", "latency_s"), 0.0)
    counts = dict.fromkeys(("prompt_tokens", "completion_tokens"), 0)
    steps = [
        {"number": number, "stage": stage, "status": status, "request_hash": None, "script": None}
        | {"cpu_s": 1.0 + level, "peak_memory": 10 * number, **texts, **zeros, **counts}
        for number, (stage, status) in enumerate(endings, start=1)
    ]
    return {
        "model": MODEL,
        "protocol": protocol,
        "variant": "published",
        "resolution": 100,
        "repeat": 0,
        "problem_id": f"{category}-L{level}",
        "category": category,
        "level": level,
        "status": "ok",
        "reply": "",
        "error": None,
        **counts,
        "cost_usd": 0.0,
        "latency_s": 0.0,
        "prompt_hash": "",
        "entrant_hash": "",
        "script": None,
        "steps": steps,
    }


def rows(database: Path, query: str) -> list[dict[str, Any]]:
    with duckdb.connect(database, read_only=True) as connection:
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def tier_means(settings: Settings, model: str, protocol: str, variant: str = "published") -> dict[int, float]:
    scores = defaultdict(list)
    for category, tier in TIER_OF.items():
        key = {"model": model, "category": category}
        for row in Lake(str(settings.lake)).read(scores_table(protocol), key).to_pylist():
            if row["variant"] == variant:
                scores[tier].append(row["score"])
    return {tier: fmean(values) for tier, values in scores.items()}


def test_gain_by_tier_beside_the_published(settings: Settings, database: Path) -> None:
    direct, code, react = (tier_means(settings, MODEL, protocol) for protocol in ("direct", "code", "react"))
    found = rows(database, f"select * from cme_agent_gain where model = '{MODEL}' and variant = 'published'")
    assert [row["tier"] for row in found] == [1, 2, 3]
    for row in found:
        tier = row["tier"]
        assert row["direct_score"] == pytest.approx(direct[tier])
        assert row["code_gain"] == pytest.approx(code[tier] - direct[tier])
        assert row["react_gain"] == pytest.approx(react[tier] - direct[tier])
        assert row["published_model"] == "Gemini 3.1 Pro"
        assert (row["published_direct_score"], row["published_agent_score"]) == PUBLISHED[tier]
        assert row["published_gain"] == pytest.approx(PUBLISHED[tier][1] - PUBLISHED[tier][0])
        assert row["direct_coverage"] == row["code_coverage"] == row["react_coverage"] == 1


def test_variants_stand_apart_and_what_is_missing_is_empty(settings: Settings, database: Path) -> None:
    longer = rows(database, "select * from cme_agent_gain where variant = 'steps 20' order by tier")
    react = tier_means(settings, MODEL, "react", "steps 20")
    direct = tier_means(settings, MODEL, "direct")
    assert [row["react_gain"] for row in longer] == pytest.approx([react[t] - direct[t] for t in (1, 2, 3)])
    assert {(row["code_score"], row["published_model"]) for row in longer} == {(None, None)}
    undirected = rows(database, "select * from cme_agent_gain where model = 'undirected'")
    assert len(undirected) == 3
    assert {(row["direct_score"], row["react_gain"]) for row in undirected} == {(None, None)}


def test_published_tiers_are_there_without_any_run(tmp_path: Path) -> None:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path)})
    lake = Lake(str(settings.lake))
    write_problems(lake, ("A1",))
    write_scores(lake, Evaluation("first"), categories=("A1",))
    built = build_reports(settings).database
    found = rows(built, "select model, tier, react_score, published_agent_score from cme_agent_gain")
    assert [(row["model"], row["tier"], row["published_agent_score"]) for row in found] == [
        (MODEL, tier, agent) for tier, (_, agent) in PUBLISHED.items()
    ]
    assert rows(built, "select * from cme_agent_steps") == []


def test_failures_by_step(database: Path) -> None:
    expected: Counter[tuple[str, int, str, str]] = Counter()
    for (protocol, _), endings in ENDINGS.items():
        for number, (stage, status) in enumerate(endings, start=1):
            expected[protocol, number, stage, status] += 1
    found = rows(database, "select * from cme_agent_steps")
    assert {(r["protocol"], r["step"], r["stage"], r["status"]): r["n_runs"] for r in found} == expected
    first = {r["status"]: r["share"] for r in found if (r["protocol"], r["step"]) == ("code", 1)}
    assert first == {"ok": 0.5, "no_code": 0.5}
    react = next(r for r in found if (r["protocol"], r["step"]) == ("react", 1))
    assert (float(react["mean_cpu_s"]), react["peak_memory"]) == (1.5, 10)
