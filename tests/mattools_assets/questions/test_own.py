"""The project's own questions: what is written down passes, near misses and empty answers do not."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from mattools_assets.questions.own import OwnQuestion, OwnQuestionError, own_questions, read_entry, read_topic, verify
from mattools_assets.verification.examples import decoded, fits
from mattools_assets.verification.verdicts import Finding

QUESTIONS = own_questions()
TOPICS = {
    "structures",
    "symmetry",
    "diffraction",
    "phase_diagrams",
    "electronic_structure",
    "surfaces",
    "input_output",
    "defects",
}

every_question = pytest.mark.parametrize("own", QUESTIONS, ids=lambda own: own.question.id)


def right_answer(own: OwnQuestion) -> dict[str, object]:
    return {item.name: decoded(item.expected.type, item.expected.value) for item in own.properties}


def test_size_and_topics() -> None:
    assert len(QUESTIONS) >= 50
    assert sum(len(own.properties) for own in QUESTIONS) >= 150
    assert {own.question.topic for own in QUESTIONS} == TOPICS


@every_question
def test_written_values_pass(own: OwnQuestion) -> None:
    verdict = verify(right_answer(own), own.properties)
    assert [item for item in verdict.properties if not item.passed] == []
    assert verdict.runnable


@every_question
def test_each_mutant_fails_alone(own: OwnQuestion) -> None:
    for mutated in own.properties:
        answer = right_answer(own) | {mutated.name: decoded(mutated.expected.type, mutated.mutant)}
        failed = {item.name for item in verify(answer, own.properties).properties if not item.passed}
        assert failed == {mutated.name}


@every_question
def test_empty_and_none_fail(own: OwnQuestion) -> None:
    empty, missing = verify({}, own.properties), verify(None, own.properties)
    nothing = verify(dict.fromkeys(own.question.properties), own.properties)
    assert (empty.runnable, missing.runnable, nothing.runnable) == (False, False, False)
    assert empty.n_passed == missing.n_passed == nothing.n_passed == 0
    assert {item.finding for item in nothing.properties} == {Finding.NONE}


@every_question
def test_text_names_everything_but_the_answer(own: OwnQuestion) -> None:
    text = own.question.text
    for item in own.properties:
        assert f"`{item.name}`" in text
    for name in own.question.files:
        assert f"`{name}`" in text
    assert own.solution not in text


@every_question
def test_solution_keeps_the_contract(own: OwnQuestion) -> None:
    tree = ast.parse(own.solution)
    assert [type(node) for node in tree.body] == [ast.FunctionDef]
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert function.name == own.function_name
    assert ast.unparse(function.args) == ""


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    def message(content: str) -> str:
        path = tmp_path / "topic.yaml"
        path.write_text(content)
        with pytest.raises(OwnQuestionError) as error:
            list(read_topic(path))
        assert "\n" not in str(error.value)
        return str(error.value)

    assert "topic.yaml" in message("- [")
    assert "list of questions" in message("id: a")
    assert "topic.yaml, a, add text" in message("- id: a")
    assert "topic.yaml, question 1, add id" in message("- text: a")
    body = "- {id: a, text: t, solution: 'def a(): pass', properties: {p: {%s}}}"
    assert "add mutant" in message(body % "type: int, description: d, value: 1, source: s")
    assert "add a tolerance" in message(body % "type: float, description: d, value: 1, source: s, mutant: 2")
    assert "p, type: 'number' is no type" in message(
        body % "type: number, description: d, value: 1, source: s, mutant: 2"
    )
    assert "'kind' is no field" in message(body % "kind: int")


ENTRY: dict[str, Any] = {
    "id": "a-b",
    "text": "What?",
    "properties": {
        "p": {
            "type": "float",
            "unit": "A",
            "description": "d",
            "value": 1.0,
            "tolerance": 0.1,
            "reason": "r",
            "mutant": 3.0,
            "source": "s",
        }
    },
    "solution": "def a_b():\n    return {}\n",
}


def refused(entry: dict[Any, Any], folder: Path | None = None) -> str:
    with pytest.raises(OwnQuestionError) as error:
        read_entry(entry, "topic", "t.yaml, a-b", folder)
    assert str(error.value).isprintable()
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"unit": 5}, "p, unit: must be a text"),
        ({"unit": ["a"]}, "p, unit: must be a text"),
        ({"source": [1]}, "p, source: must be a text"),
        ({"source": " "}, "p, source: is empty"),
        ({"reason": 5}, "p, reason: must be a text"),
        ({"description": 5}, "p, description: must be a text"),
        ({"description": "\ud800"}, "p, description: holds half a character"),
        ({"type": 5}, "p, type: must be a text"),
        ({"type": "list of " * 200 + "int"}, "p, type: "),
        ({"tolerance": "abc"}, "p, tolerance: must be a number"),
        ({"tolerance": [1]}, "p, tolerance: must be a number"),
        ({"tolerance": True}, "p, tolerance: must be a number"),
        ({"tolerance": -1}, "p, tolerance: must be greater than or equal to 0"),
        ({"tolerance": float("nan")}, "p, tolerance: must be a finite number"),
        ({"tolerance": float("inf")}, "p, tolerance: must be a finite number"),
        ({"tolerance": 0}, "add a tolerance above zero"),
        ({"reason": None}, "add the reason for the tolerance"),
        ({"value": "abc"}, "p: the value is no float"),
        ({"value": float("nan")}, "p: the value is no float"),
        ({"value": None}, "p: the value is no float"),
        ({"value": True}, "p: the value is no float"),
        ({"mutant": "3"}, "p: the mutant is no float"),
        ({"mutant": 1.05}, "p: the mutant passes as right"),
        ({"ordered": "maybe"}, "p, ordered: must be true or false"),
        ({"ordered": False}, "ordered: false is for one list"),
        ({"type": "list of list of int", "value": [[1]], "mutant": [[2]], "ordered": False}, "ordered: false is for"),
        ({"type": "list of structure", "value": [], "mutant": [], "ordered": False}, "ordered: false is for one list"),
        ({5: 1}, "p, 5: is no field"),
        ({"kind\n": 1}, "is no field; there are description"),
    ],
)
def test_a_property_that_is_none_is_named(change: dict[Any, Any], says: str) -> None:
    message = refused(ENTRY | {"properties": {"p": ENTRY["properties"]["p"] | change}})
    assert message.startswith("t.yaml, a-b, p")
    assert says in message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": 5}, "id: must be a text"),
        ({"id": "../x"}, "id: must be words"),
        ({"id": "for"}, "id: must be words"),
        ({"text": 5}, "text: must be a text"),
        ({"text": "\n"}, "text: is empty"),
        ({"solution": "def b():\n    return {}\n"}, "the solution must define `a_b()`"),
        ({"properties": {}}, "properties: is empty"),
        ({"properties": ["p"]}, "properties: must be a mapping"),
        ({"properties": {"p": 5}}, "p: must be a mapping"),
        ({"properties": {5: ENTRY["properties"]["p"]}}, "5: must be a text"),
        ({"properties": {"": ENTRY["properties"]["p"]}}, "'': is no name"),
        ({"properties": {"a`b": ENTRY["properties"]["p"]}}, "a`b: is no name"),
        ({"properties": {"a\nb": ENTRY["properties"]["p"]}}, "'a\\nb': is no name"),
        ({"files": 5}, "files: must be texts by name"),
        ({"files": [5]}, "files: must be texts by name"),
        ({"files": {5: "x"}}, "files: must be texts by name"),
        ({"files": {"a": 5}}, "files: what a file holds must be a text"),
        ({"files": {"a": "\ud800"}}, "files: what a file holds must be a text"),
        ({"files": {"../a": "x"}}, "use a plain relative path"),
        ({"files": {"/etc/a": "x"}}, "use a plain relative path"),
        ({"files": {"a": "x", "a/b": "y"}}, "'a' is the folder of 'a/b'"),
        ({"files": ["../secret.txt"]}, "use a plain relative path"),
        ({"files": ["absent.txt"]}, "there is no 'absent.txt' below the test suite"),
        ({"zz": 1}, "'zz' is no field; there are files"),
        ({5: 1}, "5: is no field"),
    ],
)
def test_a_question_that_is_none_is_named(tmp_path: Path, change: dict[Any, Any], says: str) -> None:
    (tmp_path / "secret.txt").write_text("s")
    (tmp_path / "suite").mkdir()
    assert says in refused(ENTRY | change, tmp_path / "suite")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe", "t.yaml: is not UTF-8 text"),
        (b"- id: a\x00b", "t.yaml:1: not YAML"),
        (b"- " * 3_000 + b"x", "t.yaml:1: not YAML (is nested too deeply)"),
        (b"- id: 2020-99-99", "t.yaml:1: not YAML (it is no timestamp)"),
        (b"- id: a\n  id: b", "t.yaml:2: not YAML (the key id is there twice)"),
        (b'- {id: a, properties: {}, solution: s, text: "\\ud800"}', "t.yaml, a, text: holds half a character"),
        (b"- id: 0x" + b"f" * 5_000, "t.yaml:1: not YAML (it is too long for int)"),
        (b"- 5", "question 1: write `id"),
        (b'- {id: "a\\nb"}', "t.yaml, 'a\\nb', id: must be words"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "t.yaml").write_bytes(content)
    with pytest.raises(OwnQuestionError) as error:
        list(read_topic(tmp_path / "t.yaml"))
    assert says in str(error.value)
    assert str(error.value).isprintable()


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").mkdir()
    (tmp_path / "l.yaml").symlink_to(tmp_path / "nowhere")
    for name in ("t.yaml", "l.yaml"):
        with pytest.raises(OwnQuestionError, match=name):
            list(read_topic(tmp_path / name))


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("int", [1, -(2**70)], [1.0, True, "1", None]),
        ("float", [1, -0.5], [True, float("inf"), "1", [1.0]]),
        ("bool", [False], [0, "yes"]),
        ("str", ["", "a"], [1, None, "\ud800"]),
        ("list of float", [[], [1, 2.5]], [{}, "ab", [float("nan")], 1]),
        ("set of str", [["a"]], ["ab", ["a", "a"], {"a": 1}]),
        ("dict of str to list of int", [{}, {"a": [1]}], [{1: [1]}, {"a": 1}, [["a", [1]]]]),
        ("array of int", [[[1, 2], [3, 4]]], [[[1], [1, 2]], [True], [1.0], [2**63], 1, eval("[" * 80 + "]" * 80)]),
        ("array of float", [[1, 2.5]], [["1"], [float("nan")], {"a": 1}]),
        ("composition", [{"Fe": 2, "O": 3.5}], [{}, {"Fe": "2"}, {1: 2}, ["Fe"]]),
        (
            "structure",
            [{"cell": [4, 4, 5, 90, 90, 120], "sites": [["Co", 0, 0, 0.5]]}],
            [
                5,
                {},
                {"cell": [4, 4, 5], "sites": []},
                {"cell": [4, 4, 5, 90, 90, 0], "sites": []},
                {"cell": [4, 4, 5, 90, 90, 120], "sites": [["Co", 0, 0]]},
                {"cell": [4, 4, 5, 90, 90, 120], "sites": [[1, 0, 0, 0]]},
                {"cell": [4, 4, 5, 90, 90, 120], "sites": [], "x": 1},
            ],
        ),
    ],
)
def test_what_may_be_written_for_each_type(kind: str, right: list[Any], wrong: list[Any]) -> None:
    assert [value for value in right if not fits(kind, value)] == []
    assert [value for value in wrong if fits(kind, value)] == []
