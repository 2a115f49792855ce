"""Intervals of every mean score that the other tables show: a cluster bootstrap over categories."""

from collections import defaultdict

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


def model(dbt, _session):
    """One row an evaluation and cut: all problems, one tier, one level."""
    scored = dbt.ref("cme_problem_scores").filter("score is not null and published")
    cuts = defaultdict(list)
    for evaluation, category, tier, level, score in scored.select(
        "evaluation, category, tier, level, score"
    ).fetchall():
        for cut in (("all", None), ("tier", tier), ("level", level)):
            cuts[evaluation, *cut].append((category, score))
    return pa.Table.from_pylist([_row(*cut, problems) for cut, problems in cuts.items()], schema=SCHEMA)


def _row(evaluation, cut, value, problems):
    categories, scores = zip(*problems, strict=True)
    low, high = cluster_interval(scores, categories) or (None, None)
    return {
        "evaluation": evaluation,
        "cut": cut,
        "cut_value": value,
        "n_clusters": len(set(categories)),
        "ci_low": low,
        "ci_high": high,
    }
