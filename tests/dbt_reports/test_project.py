"""What decides whether reports are built again."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from dbt_reports.project import PROJECT, project_files


def test_what_a_python_model_calls_builds_the_reports_again() -> None:
    files = set(project_files())
    models = sorted((PROJECT / "models").rglob("*.py"))
    assert len(models) >= 2
    for model in models:
        imports = [node for node in ast.walk(ast.parse(model.read_text())) if isinstance(node, ast.ImportFrom)]
        origins = [find_spec(node.module).origin for node in imports if node.module]  # type: ignore[union-attr]
        ours = {Path(origin) for origin in origins if origin and PROJECT.parent in Path(origin).parents}
        ours = {path for path in ours if ".venv" not in path.parts}
        assert ours
        assert ours <= files
