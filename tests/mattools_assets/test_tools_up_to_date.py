"""What a run of tool usage leaves out, and how it says so."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import yaml

from mattools_assets.tool_usage.entrants import Evaluation
from mattools_assets.tools_up_to_date import bring_tools_up_to_date
from resources.settings import read_settings


def test_systems_without_the_named_documents_are_left_out_in_one_line(tmp_path: Path) -> None:
    writer = {"name": "writer", "provider": "openai_compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": [writer | {"free": True, "protocols": ["docs"]}]}))
    places = {"CONDMAT_DATA": str(tmp_path), "CONDMAT_MODELS": str(tmp_path / "models.yaml")}
    settings = read_settings({**places, "CONDMAT_DOC_SOURCE": "writer"})
    evaluations = [Evaluation("small", system) for system in ("rag-3", "rag-4", "agentic-rag")]
    with dg.DagsterInstance.ephemeral() as instance:
        done = bring_tools_up_to_date(settings, evaluations, instance)
    assert done.left_out == [
        "rag-3, rag-4, agentic-rag: object-docs-split and object-docs: left out; writer, whom CONDMAT_DOC_SOURCE names,"
        " has written no document; let it write them all, or name docstrings"
    ]
    assert done.refused == []
