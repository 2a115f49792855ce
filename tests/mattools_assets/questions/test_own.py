"""The project's own questions: what is written down passes, near misses and empty answers do not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mattools_assets.questions.own import OwnQuestion, OwnQuestionError, own_questions, read_topic, verify
from mattools_assets.verification.examples import decoded
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
    assert "question 1" in message("- id: a")
    body = "- {id: a, text: t, solution: 'def a(): pass', properties: {p: {%s}}}"
    assert "add mutant" in message(body % "type: int, description: d, value: 1, source: s")
    assert "add a tolerance" in message(body % "type: float, description: d, value: 1, source: s, mutant: 2")
    assert "type 'number'" in message(body % "type: number, description: d, value: 1, source: s, mutant: 2")
    assert "'kind' is no field" in message(body % "kind: int")
