"""Whose documents are asked about must be somebody who writes documents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mattools_assets.entrants import check_doc_source
from resources.registry import load_registry
from resources.settings import SettingError
from tests.mattools_assets.knowledge_graph import knowledge_settings, model


@pytest.mark.parametrize("command", ["run", "estimate"])
def test_commands_refuse_a_writer_that_nobody_is_in_one_line(tmp_path: Path, command: str) -> None:
    environment = os.environ | {"CONDMAT_DATA": str(tmp_path / "data"), "CONDMAT_DOC_SOURCE": "nobody"}
    arguments = [sys.executable, "-m", f"mattools_assets.{command}"]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: CONDMAT_DOC_SOURCE='nobody': ")
    assert "docstrings, signatures" in done.stderr
    assert not (tmp_path / "data" / "lake").exists()


def test_a_writer_without_a_key_may_be_named_and_one_with_other_protocols_not(tmp_path: Path) -> None:
    writer = model("http://localhost:1", "writer", key_env="NOWHERE", protocols=["docs"])
    other = model("http://localhost:1", "other", protocols=["questions"])
    for name in ("docstrings", "signatures", "writer"):
        settings = knowledge_settings(tmp_path, writer, other, CONDMAT_DOC_SOURCE=name)
        check_doc_source(settings, load_registry(settings.models_file).entries)
    settings = knowledge_settings(tmp_path, writer, other, CONDMAT_DOC_SOURCE="other")
    with pytest.raises(SettingError, match=r"docstrings, signatures, writer, or give an entry of models\.yaml"):
        check_doc_source(settings, load_registry(settings.models_file).entries)
