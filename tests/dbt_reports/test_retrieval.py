"""The report on recall from two small files, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_reports.build import build_reports
from mattools_assets.systems.recall import RETRIEVAL_RECALL
from resources.lake import Lake
from resources.settings import read_settings


def row(embedder: str, question: str, needed: str, available: str, found: str) -> dict[str, Any]:
    lists = {"needed": list(needed), "available": list(available), "found": list(found)}
    return {"source": "code", "embedder": embedder, "documents": "code", "question_id": question, "k": 5, **lists}


def test_recall_by_source_and_embedder(tmp_path: Path) -> None:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path)})
    lake = Lake(settings.lake)
    rows = {
        "bm25": [row("bm25", "1", "abc", "ab", "a"), row("bm25", "2", "d", "d", "d"), row("bm25", "3", "", "", "")],
        "vectors": [row("vectors", "1", "abc", "abc", ""), row("vectors", "2", "d", "d", "")],
    }
    for embedder, some in rows.items():
        lake.write(RETRIEVAL_RECALL, {"source": "code", "embedder": embedder}, RETRIEVAL_RECALL.rows(some), {})
    build_reports(settings)
    with duckdb.connect(str(settings.reports_database), read_only=True) as database:
        found = database.execute(
            "select embedder, n_questions, n_needed, available, recall, mean_recall, n_questions_with_a_hit, k"
            " from mattools_retrieval_recall order by embedder"
        ).fetchall()
    assert found == [
        ("bm25", 2, 4, 0.75, 0.5, pytest.approx((1 / 3 + 1) / 2), 2, 5),
        ("vectors", 2, 4, 1.0, 0.0, 0.0, 0, 5),
    ]
