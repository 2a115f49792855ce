"""Every command says what it is for, and does nothing when it is called wrongly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = ("cme_assets", "mattools_assets", "resources", "dbt_reports", "benchmarks")
OTHERWISE = {"benchmarks/source_repoagent.py", "benchmarks/__main__.py"}
"""Run by another command in an environment of its own; names a benchmark and says which there are."""


def commands() -> list[str]:
    """The modules that can be run by `python -m`."""
    files = [path.relative_to(ROOT) for place in PLACES for path in (ROOT / place).rglob("*.py")]
    runnable = [path for path in files if '__name__ == "__main__"' in (ROOT / path).read_text(encoding="utf-8")]
    outside = [path for path in runnable if str(path) not in OTHERWISE and "inside" not in path.parts]
    return sorted(".".join(path.with_suffix("").parts).removesuffix(".__main__") for path in outside)


def test_all_commands_of_the_documents_are_found() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    named = {name for text in texts for name in re.findall(r"python -m ([a-z_]+(?:\.[a-z_]+)+)", text)}
    assert named <= set(commands())


@pytest.mark.parametrize("command", commands())
def test_an_unknown_argument_starts_nothing_and_shows_how_to_call(command: str, tmp_path: Path) -> None:
    environment = {"PATH": "", "CONDMAT_DATA": str(tmp_path / "data"), "PYTHONPATH": str(ROOT)}
    asked = [sys.executable, "-m", command, "--no-such-option"]
    done = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"usage: python -m {command} [-h]")
    assert not (tmp_path / "data").exists()
