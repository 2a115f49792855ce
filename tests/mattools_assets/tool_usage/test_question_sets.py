"""A question of one's own that is wrong is said in one line with its file, before anything is run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mattools_assets.questions import own
from mattools_assets.tool_usage import question_sets
from mattools_assets.tool_usage.question_sets import ToolUsageError, all_tasks
from resources.settings import read_settings

STRUCTURES = (own.FOLDER / "structures.yaml").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for module in (own, question_sets):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    own.own_questions.cache_clear()
    yield tmp_path
    own.own_questions.cache_clear()


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["a: 1"], "0.yaml: write a list of questions"),
        (["- [1"], "0.yaml"),
        ([STRUCTURES, STRUCTURES], "*.yaml: the id "),
        ([STRUCTURES.replace("mutant: ", "mutants: ", 1)], "0.yaml, "),
    ],
)
def test_a_mistake_is_one_line(folder: Path, texts: list[str], says: str) -> None:
    for number, text in enumerate(texts):
        (folder / f"{number}.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ToolUsageError) as error:
        all_tasks(read_settings({"CONDMAT_DATA": str(folder / "data")}))
    assert str(error.value).startswith(str(folder / says))
    assert "\n" not in str(error.value)


def test_questions_without_a_mistake_are_tasks(folder: Path) -> None:
    (folder / "structures.yaml").write_text(STRUCTURES, encoding="utf-8")
    assert len(all_tasks(read_settings({"CONDMAT_DATA": str(folder / "data")}))) == STRUCTURES.count("\n- id:")
