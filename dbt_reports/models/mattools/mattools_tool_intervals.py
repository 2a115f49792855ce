"""Intervals of task success rates: properties of one question are alike, and count for less than their number."""

from collections import defaultdict

import pyarrow as pa

from resources.proportions import clustered_interval

KEY = ("evaluation", "question_set", "mode", "origin")
SCHEMA = pa.schema(
    {
        **dict.fromkeys(KEY, pa.string()),
        "n_clusters": pa.int32(),
        "ci_low": pa.float64(),
        "ci_high": pa.float64(),
    }
)


def model(dbt, _session):
    """One row an evaluation, set of questions, mode and origin; a property's score is its mean over repeats."""
    scored = dbt.ref("mattools_tool_scores").filter("n_passed is not null")
    passed = defaultdict(lambda: defaultdict(list))
    for *key, question, findings in scored.select(", ".join((*KEY, "question_id", "findings"))).fetchall():
        for item in findings:
            passed[tuple(key)][question, item["property"]].append(item["finding"] == "passed")
    return pa.Table.from_pylist([_row(key, properties) for key, properties in passed.items()], schema=SCHEMA)


def _row(key, properties):
    questions = [question for question, _ in properties]
    scores = [sum(repeats) / len(repeats) for repeats in properties.values()]
    low, high = clustered_interval(scores, questions)
    return {**dict(zip(KEY, key, strict=True)), "n_clusters": len(set(questions)), "ci_low": low, "ci_high": high}
