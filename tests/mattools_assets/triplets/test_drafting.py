"""Drafts by three requests to a server of the test, and their review in a folder. Proofs are in tests/live."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from mattools_assets.triplets.drafting import Draft, check_form
from mattools_assets.triplets.review import PENDING, ReviewError, read_review, read_reviews, write_draft
from mattools_assets.triplets.stages import ACCEPTED, FLAGGED, ask_for_drafts, flag_repeated, make_triplets
from mattools_assets.triplets.unit_tests import Suite, UnitTest
from resources.llm.ledger import Ledger
from resources.llm.probing import QUESTION
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.sandbox.execution import Execution
from resources.settings import Settings, read_settings
from tests.mattools_assets.triplets.small_suite import NAME, PROPERTIES, SOLUTION, TASK, plays, write_suite
from tests.servers.faulty import FaultyServer
from tests.servers.faulty import running as faulty_running
from tests.servers.scripted import ScriptedServer, Turn, running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    models = tmp_path / "models.yaml"
    models.write_text("models: []")
    return read_settings({"CONDMAT_DATA": str(tmp_path / "data"), "CONDMAT_MODELS": str(models)})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite")


@pytest.fixture
def test(suite: Path) -> UnitTest:
    (found,) = Suite(suite).tests()
    return found


def drafted(settings: Settings, test: UnitTest, server: ScriptedServer) -> Draft:
    with running(server) as address:
        named = {"name": "writer", "model": "writer", "provider": "openai_compatible", "free": True}
        entry = ModelEntry.model_validate({**named, "base_url": address, "protocols": ["triplets"]})
        (made,) = ask_for_drafts(settings, entry, [test], lambda *_: None)
    return made


def test_three_requests_make_a_draft(settings: Settings, suite: Path, test: UnitTest) -> None:
    server = ScriptedServer(plays())
    made = drafted(settings, test, server)
    assert (made.status, made.error) == (Status.OK, "")
    assert made.entry == {
        "id": "test-salt-test-salt",
        "text": TASK,
        "properties": PROPERTIES,
        "solution": SOLUTION,
        "files": ["data/NaCl.vasp"],
    }
    assert check_form(made.entry, suite) is None
    prompts = [body["messages"][0]["content"] for body in server.bodies]
    assert len(prompts) == 3
    # Each holds the test, its fixture with what that needs, and the file.
    for prompt in prompts:
        assert test.source in prompt
        assert "def salt():" in prompt
        assert "from pymatgen.core import Structure" in prompt
        assert "`data/NaCl.vasp`" in prompt
    assert TASK in prompts[2]
    assert NAME in prompts[2]
    with Ledger(settings.ledger_url) as ledger:
        hashes = [answer.hash for answer in made.answers]
        assert set(ledger.lookup(hashes)) == set(hashes)


def test_the_model_is_asked_as_it_takes_it_and_money_is_announced(
    settings: Settings, test: UnitTest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("SOME_KEY", "sk-0123456789")
    server = FaultyServer()
    with faulty_running(server) as address:
        named = {"name": "writer", "model": "m", "provider": "openai_compatible", "base_url": f"{address}/v1"}
        priced = {"key_env": "SOME_KEY", "prices": [{"since": "2020-01-01", "input": 1, "output": 1}]}
        entry = ModelEntry.model_validate({**named, **priced, "probe": True, "protocols": ["triplets"]})
        told: list[str] = []
        allowed = replace(settings, budget_day_usd=None)
        (made,) = ask_for_drafts(allowed, entry, [test], lambda done, of, more: told.append(f"{done} of {of}, {more}"))
    assert [prompt == QUESTION for _, prompt in server.log.asked] == [True, False]
    assert "writer: may spend money, without a ceiling" in caplog.text
    assert made.status is Status.UNPARSEABLE
    assert len(told) == 1
    assert re.fullmatch(
        r"1 of 1, 1 unparseable; requests: 1 done \(0 from the ledger\), [1-9]\d* \+ [1-9]\d* tokens, \$0\.\d{4}",
        told[0],
    )


@pytest.mark.parametrize(
    ("server", "status", "words", "asked"),
    [
        (ScriptedServer(plays("not json")), Status.UNPARSEABLE, "properties: not JSON", 1),
        (
            ScriptedServer(plays(json.dumps({"p": {"value": json.loads("[" * 900 + "]" * 900)}}))),
            Status.UNPARSEABLE,
            "properties: the draft is nested too deeply",
            3,
        ),
        (ScriptedServer(plays("[1]")), Status.UNPARSEABLE, "not an object of properties", 1),
        (ScriptedServer(plays("[" * 9000)), Status.UNPARSEABLE, "properties: not JSON", 1),
        (ScriptedServer(plays('{"a": ' + "9" * 5000 + "}")), Status.UNPARSEABLE, "properties: not JSON", 1),
        (ScriptedServer(plays(question=" ")), Status.UNPARSEABLE, "nothing between <question>", 2),
        (ScriptedServer({"Name": [Turn("")]}), Status.EMPTY, "properties", 1),
        (ScriptedServer({"Name": [Turn("<properties>{", finish="length")]}), Status.TRUNCATED, "properties", 1),
    ],
)
def test_what_gives_no_draft_says_why(
    settings: Settings, test: UnitTest, server: ScriptedServer, status: Status, words: str, asked: int
) -> None:
    made = drafted(settings, test, server)
    assert (made.status, made.entry, len(made.answers)) == (status, None, asked)
    assert words in made.error


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"volume": PROPERTIES["volume"] | {"tolerance": None}}, "add a tolerance"),
        ({"volume": PROPERTIES["volume"] | {"type": "number"}}, "volume, type: 'number' is no type"),
        ({"volume": {"type": "int"}}, "add description"),
        ({"n_sites": PROPERTIES["n_sites"] | {"kind": 1}}, "'kind' is no field"),
        ({"n_sites": PROPERTIES["n_sites"] | {"description": 5}}, "n_sites, description: must be a text"),
        ({"n_sites": PROPERTIES["n_sites"] | {"mutant": 2}}, "n_sites: the mutant passes as right"),
        ({"n_sites": PROPERTIES["n_sites"] | {"mutant": "3"}}, "n_sites: the mutant is no int"),
        ({"n_sites": PROPERTIES["n_sites"] | {"value": "two"}}, "n_sites: the value is no int"),
        ({"volume": PROPERTIES["volume"] | {"mutant": 64.0000001}}, "volume: the mutant passes as right"),
        ({"volume": PROPERTIES["volume"] | {"type": "structure"}}, "volume: the value is no structure"),
    ],
)
def test_entries_of_the_wrong_form_are_one_line(suite: Path, change: dict[str, Any], words: str) -> None:
    entry = {"id": "x", "text": TASK, "properties": PROPERTIES | change, "solution": "def x():\n    return {}\n"}
    fault = check_form(entry, suite)
    assert fault is not None
    assert words in fault
    assert "\n" not in fault
    elsewhere = entry | {"properties": PROPERTIES, "files": ["data/other.vasp"]}
    assert "below the test suite" in str(check_form(elsewhere, suite))


@pytest.fixture
def made(settings: Settings, test: UnitTest) -> Draft:
    return drafted(settings, test, ScriptedServer(plays()))


def decide(path: Path, **changes: Any) -> None:
    document = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**document, **changes}))


def test_drafts_wait_for_a_person_and_never_overwrite_one(tmp_path: Path, made: Draft) -> None:
    path = write_draft(tmp_path / "review", made, "writer", ["the solution fails"])
    assert path is not None
    review = read_review(path)
    assert (review.decision, review.entry, review.test_hash) == (PENDING, made.entry, made.test.hash)
    assert not review.is_changed
    text = path.read_text()
    assert "the solution fails" in text
    assert "  def test_salt_test_salt():\n" in text.replace("    def", "  def")  # code is written as a block
    assert write_draft(tmp_path / "review", made, "writer", []) == path
    decide(path, review="reject", note="too easy")
    assert write_draft(tmp_path / "review", made, "writer", []) is None
    (kept,) = read_reviews(tmp_path / "review")
    assert (kept.decision, kept.note) == ("reject", "too easy")
    assert write_draft(tmp_path / "review", replace(made, entry=None), "writer", []) is None


def test_what_is_wrong_with_a_review_is_one_line(tmp_path: Path, made: Draft) -> None:
    path = write_draft(tmp_path, made, "writer", [])
    assert path is not None
    whole = path.read_text()

    def refused(**changes: Any) -> str:
        path.write_text(whole)
        decide(path, **changes)
        with pytest.raises(ReviewError) as error:
            read_review(path)
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)
        return str(error.value)

    assert "write one of pending, accept, edit, reject" in refused(review="yes")
    assert "test: give file, name and hash" in refused(test={})
    assert "question: is missing" in refused(question=None)
    assert made.entry is not None
    assert "write edit instead" in refused(review="accept", question=made.entry | {"text": "Other words."})
    path.write_text("a: [")
    with pytest.raises(ReviewError, match="not YAML"):
        read_review(path)


class NothingRuns:
    """What is rejected is not executed."""

    def run(self, *_: object, **__: object) -> Execution:
        raise AssertionError("a rejected draft was executed")


def test_of_several_accepted_questions_of_one_name_the_first_stays() -> None:
    rows = [{"triplet_id": name, "state": ACCEPTED, "why": None} for name in ("one", "two", "one")]
    flag_repeated(rows)
    assert [row["state"] for row in rows] == [ACCEPTED, ACCEPTED, FLAGGED]
    assert "'one'" in str(rows[2]["why"])


@pytest.mark.parametrize("question", ["5", "{properties: 5}", "{id: one, properties: [a]}"])
def test_a_question_of_another_form_is_no_failure_of_the_others(tmp_path: Path, question: str) -> None:
    path = tmp_path / "review.yaml"
    path.write_text(f"review: reject\ntest: {{file: test_a.py, name: test_a, hash: h}}\nquestion: {question}\n")
    if question == "5":
        with pytest.raises(ReviewError, match="question: is missing"):
            read_review(path)
    else:
        assert make_triplets([read_review(path)], {}, tmp_path, NothingRuns()).rows.column("state").to_pylist() == [
            "rejected"
        ]


REVIEW = "review: edit\ntest: {file: t.py, name: t, hash: h}\nquestion: {id: a}\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: " + "[" * 3000, ":1: not YAML (is nested too deeply)"),
        ("- a", ":1: not YAML (it must be keys and values"),
        (REVIEW + "note: [a]", ", note: write a text"),
        (REVIEW + 'note: "\\ud800"', ":4: not YAML (it holds half a character"),
        (REVIEW.replace("id: a", 'id: "\\ud800"'), ":3: not YAML (it holds half a character"),
        (REVIEW.replace("id: a", 'text: "\\ud800"'), ":3: not YAML (it holds half a character"),
        (REVIEW.replace("id: a", "id: 0x" + "f" * 5_000), ":3: not YAML (it is too long for int)"),
        (REVIEW.replace("id: a", "id: 2020-99-99"), ":3: not YAML (it is no timestamp)"),
        (REVIEW + "review: accept", ":4: not YAML (the key review is there twice)"),
        (REVIEW + "nots: why", ": 'nots' is no field; there are review, note"),
        (REVIEW.replace("edit", "[edit]"), ", review ['edit']: write one of"),
        (REVIEW.replace("edit", '"a\\nb"'), ", review 'a\\nb': write one of"),
    ],
)
def test_whatever_is_wrong_with_a_review_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "review.yaml"
    path.write_text(text)
    with pytest.raises(ReviewError) as error:
        read_review(path)
    assert str(error.value).startswith(f"{path}{says}")
    assert str(error.value).isprintable()


def test_what_is_no_file_or_no_text_among_reviews_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "link.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff")
    for name, says in (("folder", "it is no file"), ("link", "cannot be read"), ("bytes", "is not UTF-8 text")):
        with pytest.raises(ReviewError, match=rf"{name}\.yaml.*{says}"):
            read_review(tmp_path / f"{name}.yaml")
