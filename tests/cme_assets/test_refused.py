"""A protocol that cannot be asked is one line, and stops neither the others nor the reports."""

from pathlib import Path

import dagster as dg
import pytest

from cme_assets import bring_up_to_date as module
from cme_assets.planning import EvaluationRun
from cme_assets.protocols.protocol import ProtocolError
from resources.carrying_out import Done
from resources.ranges import RANGE_START
from resources.registry import load_registry
from resources.settings import read_settings


def test_the_other_runs_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path), "CONDMAT_PROFILE": "fast"})
    asked: list[str] = []

    def carry_out(
        _job: object, _instance: object, assets: tuple[str, ...], done: Done, *, tags: dict[str, str]
    ) -> None:
        asked.append(tags[RANGE_START])
        if "code_runs" in assets:
            raise ProtocolError("no sandbox works here: install Docker or bubblewrap")
        done.runs += 1

    def plan(_lake: object, _settings: object, protocol: object, *_: object) -> list[EvaluationRun]:
        name = protocol.responses.table.name
        return [EvaluationRun((name,), ("a", "A1"), ("a", "B1")), EvaluationRun((name,), ("b", "A1"), ("b", "B1"))]

    monkeypatch.setattr(module, "carry_out", carry_out)
    monkeypatch.setattr(module, "evaluation_plan", plan)
    monkeypatch.setattr(module, "stale_data", lambda *_: {})
    with dg.DagsterInstance.ephemeral() as instance:
        done = module.bring_up_to_date(settings, load_registry(settings.models_file).entries[:1], instance)
    assert len(asked) == 2 * len(module.PROTOCOLS)
    assert done.runs == 2 * (len(module.PROTOCOLS) - 1)
    assert [line.split(":")[0] for line in done.refused] == ["code, a", "code, b"]
    assert all("install Docker" in line for line in done.refused)
