"""What `make run-mattools` prints at its end, from reports that hold a few rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from mattools_assets.summary import print_summary
from resources.carrying_out import Done
from resources.settings import read_settings

LONG = "gpt-4o-2024-08-06-with-a-name-that-goes-on-and-on/reflection-published"


def summary(folder: Path, capsys: pytest.CaptureFixture[str], **environment: str) -> str:
    settings = read_settings({"CONDMAT_DATA": str(folder), **environment})
    with duckdb.connect(str(settings.reports_database)) as database:
        database.execute(
            "create or replace table mattools_qa_accuracy as select 'm' as model, 'handwritten' as origin,"
            " 'handwritten' as question_kind, 'all' as sample, 30 as n_answered, 1.0 as coverage,"
            " 0.5 as accuracy_strict, 0.5 as accuracy_lenient, 0.3 as ci_low, 0.7 as ci_high"
        )
        database.execute(
            "create or replace table mattools_tool_usage as select unnest([?, ?]) as evaluation,"
            " 'published' as question_set, 'corrected' as mode, 0.57 as coverage, 1.0 as runnable_rate,"
            " 1.0 as task_success_rate, 0.9 as ci_low, 1.0 as ci_high",
            [f"{LONG}-1", f"{LONG}-4"],
        )
        database.execute(
            "create or replace table mattools_questions as select * from (values ('own', true), ('published', true),"
            " ('published', false), ('published', false)) as questions(question_set, data_at_hand)"
        )
    print_summary(settings, (Done(),), reports_built=False)
    return capsys.readouterr().out


def test_names_are_told_apart_and_captions_say_what_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = summary(tmp_path, capsys)
    names = "".join(line.split("│")[1].strip() for line in shown.splitlines() if line.startswith("│"))
    assert f"{LONG}-1" in names
    assert f"{LONG}-4" in names
    captions = " ".join(shown.split())
    assert "reference: known right answers put through the verification, the ceiling and no solver" in captions
    assert "published: 2 of 3 questions lack their data files here, so coverage stays below 100%" in captions
    assert "own: " not in captions
    assert "about pymatgen" not in captions


def test_questions_on_pymatgen_are_called_so_beside_another_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captions = " ".join(summary(tmp_path, capsys, CONDMAT_TOOL_SOURCE=f"folder:{tmp_path}").split())
    for questions in ("questions by handwritten and published", "own and published questions"):
        assert f"{questions} are about pymatgen, whatever CONDMAT_TOOL_SOURCE names" in captions
    assert "about pymatgen" not in summary(tmp_path, capsys, CONDMAT_TOOL_SOURCE="")
