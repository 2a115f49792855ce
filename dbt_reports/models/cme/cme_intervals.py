"""Intervals of every mean score that the other tables show: a cluster bootstrap over categories."""

import pyarrow as pa

from resources.bootstrap import cluster_interval

SCHEMA = pa.schema(
    {
        "evaluation": pa.string(),
        "cut": pa.string(),
        "cut_value": pa.int32(),
        "n_clusters": pa.int32(),
        "ci_low": pa.float64(),
        "ci_high": pa.float64(),
    }
)


def model(dbt, session):
    """One row an evaluation and cut: all problems, one tier, one level."""
    scored = dbt.ref("cme_problem_scores").filter("score is not null")
    problems = scored.select("evaluation, category, tier, level, score").df()
    rows = []
    for evaluation, of_evaluation in problems.groupby("evaluation"):
        rows.append(_row(evaluation, "all", None, of_evaluation))
        for cut in ("tier", "level"):
            rows.extend(_row(evaluation, cut, value, part) for value, part in of_evaluation.groupby(cut))
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _row(evaluation, cut, value, problems):
    low, high = cluster_interval(problems["score"].tolist(), problems["category"].tolist()) or (None, None)
    return {
        "evaluation": evaluation,
        "cut": cut,
        "cut_value": value,
        "n_clusters": problems["category"].nunique(),
        "ci_low": low,
        "ci_high": high,
    }
