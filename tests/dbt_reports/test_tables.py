"""The tables against sums done here in Python from the lake's files."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import duckdb
import pyarrow.parquet as pq
import pytest

from cme_assets.page.write import write_page
from dbt_reports.build import build_reports
from dbt_reports.project import PROJECT
from resources.bootstrap import cluster_interval
from resources.lake import Lake
from resources.outcomes import NOT_THE_MODELS_FAULT, Status
from resources.settings import Settings, read_settings
from tests.random_lake import OWN, TIERS, Evaluation, write_problems, write_scores

CONTRACT = {
    "cme_scores": "evaluation model protocol resolution repeat problem_id category domain tier level status score"
    " score_lenient prompt_tokens completion_tokens cost_usd",
    "cme_leaderboard": "evaluation model protocol resolution variant repeats n_problems n_scored coverage score ci_low"
    " ci_high score_min_level score_max_level",
    "cme_by_tier": "evaluation tier score",
    "cme_by_level": "evaluation level score",
    "cme_by_category": "evaluation category score",
    "cme_by_resolution": "model protocol resolution score",
    "published_results": "model protocol score_all score_min_noise score_max_noise source",
    "cme_vs_published": "published_model published_score evaluation score difference",
}

Rows = list[dict[str, object]]


@pytest.fixture(scope="module")
def by_evaluation(settings: Settings) -> dict[str, Rows]:
    """The lake's score rows by evaluation."""
    evaluations = defaultdict(list)
    for path in settings.lake.glob("*_scores/**/*.parquet"):
        for row in pq.read_table(path, partitioning=None).to_pylist():
            name = f"{row['model']}/{row['protocol']}/{row['resolution']}"
            evaluations[name if row["variant"] == "published" else f"{name}/{row['variant']}"].append(row)
    return evaluations


def problem_means(rows: Rows) -> dict[str, float]:
    """Mean score of each scored problem."""
    scores = defaultdict(list)
    for row in rows:
        if row["score"] is not None:
            scores[row["problem_id"]].append(row["score"])
    return {problem: fmean(values) for problem, values in scores.items()}


def table(reports: duckdb.DuckDBPyConnection, query: str) -> Rows:
    cursor = reports.execute(query)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_contract(reports: duckdb.DuckDBPyConnection) -> None:
    for name, columns in CONTRACT.items():
        assert set(columns.split()) <= set(reports.table(name).columns), name


def test_every_attempt_is_there(reports: duckdb.DuckDBPyConnection, by_evaluation: dict[str, Rows]) -> None:
    counts = dict(reports.execute("select evaluation, count(*) from cme_scores group by all").fetchall())
    assert counts == {name: len(rows) for name, rows in by_evaluation.items()}


def test_leaderboard_scores(reports: duckdb.DuckDBPyConnection, by_evaluation: dict[str, Rows]) -> None:
    board = {row["evaluation"]: row for row in table(reports, "from cme_leaderboard")}
    assert board.keys() == by_evaluation.keys()
    for name, rows in by_evaluation.items():
        means = problem_means(rows)
        assert board[name]["score"] == pytest.approx(fmean(means.values()), abs=1e-14)
        assert board[name]["n_scored"] == len(means)
        for column, level in (("score_min_level", 0), ("score_max_level", 4)):
            of_level = [mean for problem, mean in means.items() if problem.endswith(f"L{level}")]
            assert board[name][column] == pytest.approx(fmean(of_level), abs=1e-14)


def test_intervals_stand_beside_their_scores(
    reports: duckdb.DuckDBPyConnection, by_evaluation: dict[str, Rows]
) -> None:
    means = problem_means(by_evaluation["org/repeated model/direct/100"])
    for query, chosen in (
        ("cme_leaderboard where true", list(means)),
        ("cme_by_level where level = 3", [p for p in means if p.endswith("L3")]),
        ("cme_by_tier where tier = 2", [p for p in means if p.split("-")[0] in TIERS[2]]),
    ):
        (row,) = table(reports, f"from {query} and evaluation = 'org/repeated model/direct/100'")
        expected = cluster_interval([means[p] for p in chosen], [p.split("-")[0] for p in chosen])
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=1e-11)
        assert row["ci_low"] < row["score"] < row["ci_high"]


def test_coverage_and_rank(reports: duckdb.DuckDBPyConnection) -> None:
    board = {row["evaluation"]: row for row in table(reports, "from cme_leaderboard")}
    partial, repeated = board["partial/direct/100"], board["org/repeated model/direct/100"]
    assert (partial["n_problems"], partial["n_scored"], partial["rank"]) == (190, 10, None)
    assert partial["coverage"] == pytest.approx(10 / 190)
    assert partial["score"] > max(row["score"] for name, row in board.items() if name != "partial/direct/100")
    # Two of 570 attempts were lost, though every problem has a score from the other repeats.
    assert (repeated["repeats"], repeated["n_scored"], repeated["rank"]) == (3, 190, None)
    assert repeated["coverage"] == pytest.approx(568 / 570)
    assert (repeated["n_model_failures"], repeated["n_unscored"], repeated["n_ok"]) == (6, 2, 562)
    ranked = [(row["resolution"], row["variant"], row["rank"], name) for name, row in board.items() if row["rank"]]
    assert sorted(ranked) == [
        (50, "published", 1, "leader/direct/50"),
        (100, "60 steps", 1, "leader/react/100/60 steps"),
        (100, "published", 1, "leader/react/100"),
        (100, "published", 2, "leader/direct/100"),
        (100, "published", 3, "reference-rowwise/direct/100"),
        (200, "published", 1, "leader/direct/200"),
    ]


def test_costs(reports: duckdb.DuckDBPyConnection) -> None:
    costs = dict(reports.execute("select evaluation, cost_usd from cme_leaderboard").fetchall())
    assert costs["leader/direct/100"] == 0
    assert costs["org/repeated model/direct/100"] == 570 * 0.25
    assert costs["reference-rowwise/direct/100"] is None, "an unknown price makes the sum unknown"


def test_own_failures_are_zeros(reports: duckdb.DuckDBPyConnection) -> None:
    zeros = table(reports, "from cme_problem_scores where problem_id = 'G2-L0' and model = 'org/repeated model'")
    assert [(row["score"], row["score_lenient"] > 0) for row in zeros] == [(0.0, True)]


@pytest.mark.parametrize(("name", "group", "values"), [("cme_by_tier", "tier", 3), ("cme_by_level", "level", 5)])
def test_cuts_add_up(reports: duckdb.DuckDBPyConnection, name: str, group: str, values: int) -> None:
    """Weighted by their numbers of scored problems, the cuts give the whole; empty cuts are there, without a score."""
    for row in table(reports, "from cme_leaderboard"):
        cuts = table(reports, f"select * from {name} where evaluation = '{row['evaluation']}'")
        assert len({cut[group] for cut in cuts}) == len(cuts) == values
        assert sum(cut["n_problems"] for cut in cuts) == 190
        scored = [cut for cut in cuts if cut["n_scored"]]
        assert sum(c["score"] * c["n_scored"] for c in scored) / row["n_scored"] == pytest.approx(row["score"])
        assert all(cut["score"] is None for cut in cuts if not cut["n_scored"])


def test_categories(reports: duckdb.DuckDBPyConnection, by_evaluation: dict[str, Rows]) -> None:
    rows = table(reports, "from cme_by_category where evaluation = 'leader/direct/100'")
    assert {row["category"]: row["tier"] for row in rows} == {c: tier for tier, cs in TIERS.items() for c in cs}
    means = problem_means(by_evaluation["leader/direct/100"])
    for row in rows:
        expected = fmean(means[f"{row['category']}-L{level}"] for level in range(5))
        assert row["score"] == pytest.approx(expected, abs=1e-14)


def test_resolutions(reports: duckdb.DuckDBPyConnection) -> None:
    rows = table(reports, "from cme_by_resolution where model = 'leader' and protocol = 'direct'")
    assert [(row["resolution"], row["mean_prompt_tokens"]) for row in rows] == [(50, 5e4), (100, 1e5), (200, 2e5)]
    tiers = dict(
        reports.execute("select tier, score from cme_by_tier where evaluation = 'leader/direct/50'").fetchall()
    )
    assert [rows[0][f"score_tier_{tier}"] for tier in (1, 2, 3)] == [tiers[tier] for tier in (1, 2, 3)]


def test_outcomes(reports: duckdb.DuckDBPyConnection) -> None:
    rows = table(reports, "from cme_outcomes where model = 'org/repeated model'")
    assert {row["status"]: row["n_attempts"] for row in rows} == {"ok": 562, "unparseable": 6, "provider_error": 2}
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert {row["status"]: row["n_ok_lenient"] for row in rows} == {"ok": 562, "unparseable": 6, "provider_error": 0}


def test_wide_tolerance_is_for_mode_energies(reports: duckdb.DuckDBPyConnection) -> None:
    rows = table(reports, "from cme_wide_tolerance where evaluation = 'leader/direct/100'")
    assert {row["category"] for row in rows} == {f"D{i}" for i in range(1, 8)}
    assert all(row["score"] <= row["score_wide"] for row in rows)


def test_published(reports: duckdb.DuckDBPyConnection) -> None:
    rows = {(r["published_model"], r["published_protocol"]): r for r in table(reports, "from cme_vs_published")}
    assert len(rows) == 14
    human = rows["graduate student baseline", "python fit"]
    board = {row["evaluation"]: row for row in table(reports, "from cme_leaderboard")}
    assert human["evaluation"] == "reference-rowwise/direct/100"
    assert human["difference"] == pytest.approx(board["reference-rowwise/direct/100"]["score"] - 0.45)
    assert human["coverage"] == 1
    assert rows["GPT-5.4", "direct"]["score"] is None, "not measured here"


def test_statuses_are_the_projects() -> None:
    """dbt lists the statuses in YAML, which cannot import them."""
    text = (PROJECT / "models" / "cme" / "cme.yml").read_text()
    assert f"values: [{', '.join(Status)}]" in text
    unscored = text.split("(score is null) = (status in (")[1].split("))")[0]
    assert {word.strip(" '") for word in unscored.split(",")} == set(NOT_THE_MODELS_FAULT)


NOT_TOTALS = {"cme_problems", "cme_scores", "cme_problem_scores", "cme_by_category", "cme_wide_tolerance"}
"""Tables whose rows are of a problem or a category; all others of CME-SpectrumBench sum over categories."""


@pytest.fixture(scope="module")
def with_and_without_own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, Settings]:
    """Projects with the same scores on two published categories; the first has categories of its own as well."""
    with_own, without = (read_settings({"CONDMAT_DATA": str(tmp_path_factory.mktemp("data"))}) for _ in range(2))
    answered = (Evaluation("any", unparseable=frozenset({"H1-L3"})), Evaluation("any", protocol="react"))
    for settings, own in ((with_own, tuple(OWN)), (without, ())):
        lake = Lake(str(settings.lake))
        write_problems(lake, ("A1", "B1", *own))
        write_scores(lake, *answered, categories=("A1", "B1", *own))
        # One model has been asked nothing else yet, another more often.
        write_scores(lake, Evaluation("new"), categories=own)
        write_scores(lake, Evaluation("asked again"), categories=("A1", "B1"))
        write_scores(lake, Evaluation("asked again", repeats=2), categories=own)
        build_reports(settings)
    return with_own, without


def test_categories_of_ones_own_are_shown(with_and_without_own: tuple[Settings, Settings]) -> None:
    with duckdb.connect(with_and_without_own[0].reports_database, read_only=True) as tables:
        rows = table(tables, "from cme_by_category where evaluation = 'any/direct/100'")
    assert {row["category"]: (row["domain"], row["published"], row["n_scored"]) for row in rows} == {
        "A1": ("A", True, 5),
        "B1": ("B", True, 5),
        "B11": ("B", False, 5),
        "H1": ("H", False, 5),
    }
    assert len({row["score"] for row in rows}) == 4


def test_categories_of_ones_own_stay_out_of_every_total(with_and_without_own: tuple[Settings, Settings]) -> None:
    with_own, without = ({}, {})
    for settings, found in zip(with_and_without_own, (with_own, without), strict=True):
        with duckdb.connect(settings.reports_database, read_only=True) as tables:
            names = tables.execute("select table_name from duckdb_tables() where table_name like 'cme\\_%' escape '\\'")
            for (name,) in names.fetchall():
                found[name] = sorted(tables.table(name).fetchall(), key=repr)
    assert {name for name in with_own if with_own[name] != without[name]} <= NOT_TOTALS
    assert with_own["cme_outcomes"]
    assert with_own.keys() > NOT_TOTALS


def test_attempts_add_up(reports: duckdb.DuckDBPyConnection) -> None:
    counted = "select evaluation, sum(n_attempts) from cme_outcomes group by all"
    board = "select evaluation, n_ok + n_model_failures + n_unscored from cme_leaderboard"
    assert dict(reports.execute(counted).fetchall()) == dict(reports.execute(board).fetchall())


def test_the_page_shows_categories_of_ones_own_and_counts_the_others(
    with_and_without_own: tuple[Settings, Settings],
) -> None:
    page, plain = (write_page(settings).read_text(encoding="utf-8") for settings in with_and_without_own)
    for text in (page, plain):
        assert "<dt>10</dt><dd>problems</dd>" in text
        assert "This is a part of the benchmark: 2 of its 38 categories" in text
    assert "H Beyond the published domains" in page
    assert "invented H1, own" in page
    assert "in no total of this page" in page
    assert "in no total of this page" not in plain
