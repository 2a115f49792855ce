"""From a package to accuracies through Dagster: what is made, what is kept, and what a change touches."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from mattools_assets import estimate, freshness, planning
from mattools_assets.bring_up_to_date import Refused, bring_up_to_date
from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.estimate import estimates
from mattools_assets.freshness import Step
from mattools_assets.left_out import unanswered
from mattools_assets.qa.questions import QA_CODE, QA_DOC, QA_DROPPED
from mattools_assets.qa.scores import QA_ACCURACY, QA_ANSWERS, QA_SCORES
from mattools_assets.source.errors import SourceError
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS
from resources.lake import Lake
from resources.llm.ledger import Ledger
from resources.llm.tokens import prompt_tokens
from resources.registry import load_registry
from tests.mattools_assets.knowledge_graph import (
    BASELINES,
    MODEL,
    OBJECTS,
    PACKAGE,
    bring,
    knowledge_settings,
    model,
    prompts_for,
    scripted,
)
from tests.servers.scripted import running


def accuracies(lake: Lake, name: str) -> dict[tuple[str, str, str], dict[str, object]]:
    rows = lake.read(QA_ACCURACY, {"model": name}).to_pylist()
    return {(r["origin"], r["question_kind"], r["sample"]): r for r in rows if r["dimension"] == "all"}


def documented(prompts: list[str]) -> Counter[str]:
    return Counter(re.search(r"The function `(\w+)`", prompt)[1] for prompt in prompts)  # type: ignore[index]


def test_without_a_key_all_but_models_is_made_once(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    settings = knowledge_settings(tmp_path)
    done = bring(settings, instance)
    assert done.failed_checks == []
    lake = Lake(settings.lake)
    names = {row["qualified_name"] for row in lake.read(CODE_OBJECTS, {}).to_pylist() if row["kind"] == "function"}
    assert names == set(OBJECTS)
    assert lake.read(REFERENCES, {}).num_rows == 3
    documents = {key["doc_source"]: lake.read(LLM_DOCS, key).num_rows for key in lake.keys(LLM_DOCS)}
    assert documents == {"docstrings": 1, "signatures": 5}
    for name in BASELINES:
        assert accuracies(lake, name)["handwritten", "handwritten", "all"]["n_answered"] == 30
    letters = Counter(row["answer"] for row in lake.read(QA_SCORES, {"model": "baseline-always-a"}).to_pylist())
    always = accuracies(lake, "baseline-always-a")["handwritten", "handwritten", "all"]
    assert always["accuracy_strict"] == pytest.approx(letters["A"] / 30)
    assert bring(settings, instance).runs == 0


def test_events_stay_small_enough_for_dagster(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    bring(knowledge_settings(tmp_path), instance)
    for run in instance.get_runs():
        assert run.status is dg.DagsterRunStatus.SUCCESS
        for record in instance.get_records_for_run(run.run_id).records:
            assert len(record.event_log_entry.to_json()) < 100_000


def test_a_model_documents_writes_and_answers(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    server = scripted()
    with running(server) as address:
        settings = knowledge_settings(tmp_path, model(address), CONDMAT_DOC_SOURCE=MODEL)
        assert bring(settings, instance).failed_checks == []
        asked = len(server.bodies)
        assert bring(settings, instance).runs == 0
        assert len(server.bodies) == asked
    lake = Lake(settings.lake)
    assert documented(prompts_for(server, "You write reference documentation")) == dict.fromkeys(OBJECTS, 1)
    for table, kind in ((QA_CODE, "code"), (QA_DOC, "doc")):
        rows = lake.read(table, {"origin": MODEL}).to_pylist()
        assert {row["source_id"].split(":")[1] for row in rows} == set(OBJECTS)
        assert all(row["options"]["ABCD".index(row["answer"])].endswith(f"{kind} green") for row in rows)
    # The questions are put to whoever answers, baselines too.
    for name in (*BASELINES, MODEL):
        found = accuracies(lake, name)
        sizes = {key[:2]: row["n_answered"] for key, row in found.items()}
        assert sizes == {("handwritten", "handwritten"): 30, (MODEL, "code"): 5, (MODEL, "doc"): 5}
    assert len(prompts_for(server, "Answer this multiple-choice")) == 40


def test_what_the_budget_stopped_is_said_at_the_end(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five documents, questions on five objects and one docstring, thirty answers: none of these is asked for."""
    monkeypatch.setenv("CONDMAT_BUDGET_DAY_USD", "0.0000001")
    with running(scripted()) as address:
        priced = model(address, free=False, prices=[{"since": "2020-01-01", "input": 1, "output": 1}])
        settings = knowledge_settings(tmp_path, priced, CONDMAT_BUDGET_DAY_USD="0.0000001")
        entries = load_registry(settings.models_file).runnable({"CONDMAT_BUDGET_DAY_USD": "0.0000001"})
        bring_up_to_date(settings, entries, instance)
        stopped = "not asked: scripted: 41 requests (budget); raise CONDMAT_BUDGET_DAY_USD and run again"
        assert unanswered(Lake(settings.lake), entries, settings) == [stopped]
        monkeypatch.setenv("CONDMAT_BUDGET_DAY_USD", "none")
        settings = replace(settings, budget_day_usd=None)
        bring_up_to_date(settings, entries, instance)
    assert unanswered(Lake(settings.lake), entries, settings) == []


def test_structured_output_where_there_is_some_and_tags_where_not(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    server = scripted()
    with running(server) as address:
        plain = model(address, "plain", protocols=["questions"])
        held = model(address, "held", protocols=["questions"], capabilities={"structured": True})
        bring(knowledge_settings(tmp_path, plain, held), instance)
    for body in server.bodies:
        structured, tagged = "response_format" in body, "<item>" in body["messages"][0]["content"]
        assert (structured, tagged) == ((True, False) if body["model"] == "held" else (False, True))


@pytest.mark.parametrize(("depth", "again"), [("0", {"low"}), ("1", {"low", "middle", "other"}), ("2", None)])
def test_a_touched_function_rewrites_what_is_affected_and_asks_no_question_again(
    tmp_path: Path, instance: dg.DagsterInstance, depth: str, again: set[str] | None
) -> None:
    affected = again or {"low", "middle", "other", "top"}
    server = scripted()
    with running(server) as address:
        settings = knowledge_settings(tmp_path, model(address, protocols=["docs", "qa"]), CONDMAT_DOC_DEPTH=depth)
        bring(settings, instance)
        before = len(server.bodies)
        (tmp_path / "small" / "m.py").write_text(PACKAGE.replace('"""\n    return x\n', '"""\n    return x + 0\n'))
        # The documents come out differently, or the ledger would know the prompts of those further up.
        server.plays = scripted(edition="Second edition.").plays
        assert bring(settings, instance).failed_checks == []
    prompts = [str(body["messages"][0]["content"]) for body in server.bodies[before:]]
    assert documented(prompts) == dict.fromkeys(affected, 1)


def test_a_new_scorer_marks_again_and_asks_nobody(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = scripted()
    with running(server) as address:
        settings = knowledge_settings(tmp_path, model(address, protocols=["qa"]))
        bring(settings, instance)
        asked = len(server.bodies)
        for name in ("SCORES", "ACCURACY"):
            old: Step = getattr(freshness, name)
            monkeypatch.setattr(freshness, name, Step(old.table, old.inputs, "next", old.gathered))
        stale = planning.stale_answers(Lake(settings.lake), settings, [])
        assert stale == {"qa_answers": [], "qa_scores": [], "qa_accuracy": []}
        done = bring(settings, instance)
        assert (done.runs, done.partitions) == (1, 8)
        assert len(server.bodies) == asked
        assert bring(settings, instance).runs == 0


def test_failures_are_no_answers_and_are_asked_again(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    broken = "http://127.0.0.1:9/v1"
    settings = knowledge_settings(tmp_path, model(broken, protocols=["qa"]))
    bring(settings, instance)
    lake = Lake(settings.lake)
    (row,) = accuracies(lake, MODEL).values()
    assert (row["n_questions"], row["n_answered"], row["coverage"]) == (30, 0, 0.0)
    nothing = ("accuracy_strict", "accuracy_lenient", "ci_low", "ci_high")
    assert [row[name] for name in nothing] == [None] * 4
    assert planning.stale_answers(lake, settings, []) == {"qa_answers": [], "qa_scores": [], "qa_accuracy": []}
    assert bring(settings, instance).runs == 1


def test_samples_are_asked_once_and_kept_when_all_are_wanted(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    server = scripted("The answer is (A).")
    with running(server) as address:
        entry = model(address, protocols=["qa"], repeats=2)
        bring(knowledge_settings(tmp_path, entry, CONDMAT_QA_SAMPLES="10"), instance)
        assert len(server.bodies) == 20
        settings = knowledge_settings(tmp_path, entry, CONDMAT_QA_SAMPLES="10,all")
        bring(settings, instance)
        assert len(server.bodies) == 60
    lake = Lake(settings.lake)
    found = accuracies(lake, MODEL)
    sizes = {sample: (row["n_answered"], row["repeats"]) for (_, _, sample), row in found.items()}
    assert sizes == {"n=10,seed=0": (10, 2), "all": (30, 2)}
    assert lake.read(QA_ANSWERS, {"model": MODEL}).num_rows == 80
    whole = found["handwritten", "handwritten", "all"]
    assert whole["accuracy_strict"] == 0  # the letter stands in a sentence
    assert (
        whole["accuracy_lenient"]
        == accuracies(lake, "baseline-always-a")["handwritten", "handwritten", "all"]["accuracy_lenient"]
    )


def test_a_writer_that_errs_without_its_source_is_noticed(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    server = scripted("<answer>B</answer>")
    with running(server) as address:
        settings = knowledge_settings(tmp_path, model(address, protocols=["questions"]), CONDMAT_QA_SELF_CHECK="3")
        bring(settings, instance)
    rows = Lake(settings.lake).read(QA_CODE, {"origin": MODEL}).to_pylist()
    assert {row["is_suspect"] for row in rows} == {True, False}
    assert all(row["is_suspect"] == (row["answer"] != "B") for row in rows)


def test_what_the_gates_stop_is_listed(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    bad = {"question": "According to the text, what?", "correct": "a", "wrong": ["b", "c", "d"]}
    good = {"question": "What does `low` of small give for 3?", "correct": "3", "wrong": ["4", "5", "6"]}
    server = scripted(**{"Below is the code of `low`": json.dumps({"questions": [bad, good, {"question": "Half"}]})})
    with running(server) as address:
        settings = knowledge_settings(tmp_path, model(address, protocols=["questions"]))
        bring(settings, instance)
    lake = Lake(settings.lake)
    assert lake.read(QA_CODE, {"origin": MODEL}).num_rows == 5
    dropped = lake.read(QA_DROPPED, {"origin": MODEL, "kind": "code"}).to_pylist()
    assert {row["reason"] for row in dropped} == {
        "the question speaks of a text that is not shown",
        "there is no right option",
    }


def test_a_writer_of_whom_little_is_kept_is_pointed_out(
    tmp_path: Path, instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the code's questions two of five are kept, of the one docstring's the one."""
    apology = {f"Below is the code of `{name}`": "I am sorry." for name in ("middle", "top", "alone")}
    with running(scripted(**apology)) as address:
        done = bring(knowledge_settings(tmp_path, model(address, protocols=["questions"])), instance)
    said = "kept 2, dropped 3 (most often: no question could be read in the reply)"
    assert done.warnings == [f"qa_code: mostly_kept: {MODEL}: {said}"]
    assert done.failed_checks == []
    log = capsys.readouterr().err.splitlines()
    assert f"qa_code, {MODEL}: {said}" in log
    assert f"qa_doc, {MODEL}: kept 1, dropped 0" in log


def published(folder: Path, questions: int) -> None:
    items = [
        {
            "question_id": n,
            "question": f"What is number {n} of the things?",
            "choices": dict(zip("ABCD", (f"{n} one", f"{n} two", f"{n} three", f"{n} four"), strict=True)),
            "correct_answer": "ABCD"[n % 4],
        }
        for n in range(questions)
    ]
    folder.mkdir(exist_ok=True)
    (folder / "pymatgen_code_qa.json").write_text(json.dumps([{"source": "pymatgen/core/x.py", "questions": items}]))


def test_official_questions_from_a_folder(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    published(tmp_path / "official", 40)
    settings = knowledge_settings(tmp_path, CONDMAT_PUBLISHED_QA=str(tmp_path / "official"))
    bring(settings, instance)
    row = accuracies(Lake(settings.lake), "baseline-always-a")["published", "code", "all"]
    assert (row["n_questions"], row["accuracy_strict"]) == (40, 0.25)
    published(tmp_path / "official", 44)
    # A checkout of MatTools that tool usage is read from serves as well.
    settings = replace(settings, knowledge=replace(settings.knowledge, published=None), mattools=tmp_path / "official")
    bring(settings, instance)
    assert accuracies(Lake(settings.lake), "baseline-guess")["published", "code", "all"]["n_questions"] == 44


def test_odd_files_are_pointed_out_and_stop_nothing(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    settings = knowledge_settings(tmp_path)
    small = tmp_path / "small"
    (small / "broken.py").write_text("x = 1\ndef half(:\n    pass\n\n\ndef whole(x):\n    return low(x)\n")
    (small / "alone.py").touch()
    (small / "__init__.py").touch()
    done = bring(settings, instance)
    assert done.failed_checks == []
    (line,) = done.warnings
    assert line == (
        "source_problems: broken_files: small/broken.py:2: syntax: 1 place is not Python 3;"
        " the rest of the file is parsed (and 1 more; see the check in `make ui`)"
    )
    listed = Lake(settings.lake).read(SOURCE_PROBLEMS, {}).to_pylist()
    assert {(row["file"], row["kind"]) for row in listed} == {
        ("small/broken.py", "syntax"),
        ("small/alone.py", "empty"),
        ("small/__init__.py", "empty"),
    }
    names = Lake(settings.lake).read(CODE_OBJECTS, {}).column("qualified_name").to_pylist()
    assert "whole" in names


def test_what_a_user_can_mend_is_one_line(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    missing = knowledge_settings(tmp_path, CONDMAT_TOOL_SOURCE=f"folder:{tmp_path / 'nowhere'}")
    with pytest.raises(SourceError, match="nowhere: no such folder; name the folder") as caught:
        bring(missing, instance)
    assert "\n" not in str(caught.value)
    (tmp_path / "official").mkdir()
    (tmp_path / "official" / "code_qa.json").write_text('[{"source": "x", "questions": [{"question_id": 1,')
    half = knowledge_settings(tmp_path, CONDMAT_PUBLISHED_QA=str(tmp_path / "official"))
    with pytest.raises(Refused, match=r"code_qa\.json: not whole JSON .*; download it again") as refused:
        bring(half, instance)
    assert "\n" not in str(refused.value)


def test_what_keeps_models_from_being_asked_is_a_line_and_stops_nothing_else(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    ledger.write_bytes(b"no database" * 100)
    settings = knowledge_settings(tmp_path, model("http://127.0.0.1:9"), CONDMAT_LEDGER_URL=f"sqlite:///{ledger}")
    done = bring(settings, instance)
    assert [line.split(": ")[0].split(" of ")[0] for line in done.refused] == ["docs", "questions", "qa"]
    assert all("ledger.sqlite" in line and "\n" not in line for line in done.refused)
    lake = Lake(settings.lake)
    assert lake.read(CODE_OBJECTS, {}).num_rows > 0
    assert {key["doc_source"] for key in lake.keys(LLM_DOCS)} == {"docstrings", "signatures"}


def test_an_estimate_is_what_is_then_asked(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    server = scripted()
    with running(server) as address:
        bring(knowledge_settings(tmp_path), instance)
        entry = model(address, capabilities={"structured": True})
        settings = knowledge_settings(tmp_path, entry)
        lake, found = Lake(settings.lake), load_registry(settings.models_file)[MODEL]
        with Ledger(settings.ledger_url) as ledger:
            before = {protocol: each.requests for protocol, each in estimates(settings, found, ledger)}
        # One object alone has a docstring to ask about.
        assert before == {"docs": 5, "questions": 5 + 1, "qa": 30}
        bring(settings, instance)
        asked = [len(prompts_for(server, words)) for words in ("You write reference", "<code>", "<documentation>")]
        assert asked == [5, 5, 1]
        with Ledger(settings.ledger_url) as ledger:
            after = {protocol: (each.requests, each.answered) for protocol, each in estimates(settings, found, ledger)}
        assert after == {"docs": (0, 5), "questions": (0, 6), "qa": (0, 36)}
        assert lake.read(QA_ANSWERS, {"model": MODEL}).num_rows == 30 + 6


def test_an_estimate_counts_official_questions_before_their_import_and_those_of_two_samples_once(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    server = scripted()
    with running(server) as address:
        bring(knowledge_settings(tmp_path), instance)
        published(tmp_path / "official", 40)
        more = {"CONDMAT_PUBLISHED_QA": str(tmp_path / "official"), "CONDMAT_QA_SAMPLES": "10,all"}
        settings = knowledge_settings(tmp_path, model(address, protocols=["qa"]), **more)
        entry = load_registry(settings.models_file)[MODEL]
        with Ledger(settings.ledger_url) as ledger:
            ((_, before),) = estimates(settings, entry, ledger)
            assert (before.requests, before.answered) == (30 + 40, 0)
            bring(settings, instance)
            assert len(server.bodies) == 30 + 40
            assert sum(prompt_tokens(body) for body in server.bodies) == before.prompt_tokens
            ((_, after),) = estimates(settings, entry, ledger)
    assert str(after) == f"{MODEL}: nothing to ask; 70 requests are answered already"


def test_the_estimate_is_a_line_a_protocol_and_system_with_what_it_leaves_out(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(knowledge_settings(tmp_path), instance)
    prices = [{"since": "2020-01-01", "input": 10, "output": 100}]
    paid = {"free": False, "key_env": "KEY_THAT_IS_NOT_SET", "systems": ["single", "rag-2", "rag-4"]}
    entries = [
        model("http://127.0.0.1:9/v1", "priced", **paid, prices=prices, protocols=["qa", "tools"]),
        model("http://127.0.0.1:9/v1", "unpriced", **paid, protocols=["questions", "tools"]),
    ]
    settings = knowledge_settings(tmp_path, *entries, CONDMAT_DOC_SOURCE="docstrings")
    monkeypatch.setenv("CONDMAT_DATA", str(settings.data))
    monkeypatch.setenv("CONDMAT_MODELS", str(settings.models_file))
    monkeypatch.setattr(sys, "argv", ["estimate"])
    assert estimate.main() == 0
    *said, assumed, missing, unwritten, off, in_all = capsys.readouterr().out.splitlines()
    assert [line.split(", about ")[0] for line in said] == [
        "qa: priced: 30 requests",
        "tools, single: priced: 60 requests",
        "tools, rag-4: priced: 60 requests",
        "questions: unpriced: 6 requests",
        "tools, single: unpriced: 60 requests",
        "tools, rag-4: unpriced: 60 requests",
    ]
    assert all(re.search(r" prompt and [\d,]+ reply tokens, (at an unknown price|\$\d)", line) for line in said)
    assert assumed.startswith("tokens of a reply, assumed: qa 10, tools 400, questions 700; ")
    assert missing == "object-docs: not in the lake yet; 250 tokens a passage assumed"
    assert unwritten == "not counted: answers to the questions that are yet to be written"
    assert off.startswith("not counted: rag-2: official-docs: left out; ")
    assert re.fullmatch(r"in all \$\d+\.\d\d, and 3 lines have no price or no estimate; nobody was asked", in_all)
