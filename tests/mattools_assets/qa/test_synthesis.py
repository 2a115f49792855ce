"""From a model's reply to questions: what is kept, what is dropped and why, and where the letters go."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mattools_assets.qa.duplicates import near_duplicates
from mattools_assets.qa.gates import looks_mistaken, make_questions, pass_gates
from mattools_assets.qa.passages import Passage
from mattools_assets.qa.questions import LETTERS, QA_CODE, QuestionKind, questions_table, read_questions
from mattools_assets.qa.synthesis import MOST_QUESTIONS, REPLY_SCHEMA, Draft, read_reply, synthesis_prompt
from tests.timing import in_proportion

GOOD = {"question": "What does f return?", "correct": "a list", "wrong": ["a set", "a tuple", "nothing"]}
DRAFT = Draft("What does f return?", "a list", ("a set", "a tuple", "nothing"))
PASSAGE = Passage(QuestionKind.CODE, "m.py:f:1", "f", "p/q", "function", "def f(): return []")


def reply(*items: object) -> str:
    return json.dumps({"questions": items})


def tagged(item: dict) -> str:
    wrong = "".join(f"<wrong>{option}</wrong>\n" for option in item["wrong"])
    return f"<item>\n<question>{item['question']}</question>\n<correct>{item['correct']}</correct>\n{wrong}</item>"


@pytest.mark.parametrize("tags", [False, True])
@pytest.mark.parametrize("kind", [QuestionKind.CODE, QuestionKind.DOC])
def test_prompts_hold_the_passage_and_the_form(kind: QuestionKind, tags: bool) -> None:
    passage = Passage(kind, "s", "Lattice.abc", "g", "method", "THE {TEXT}")
    prompt = synthesis_prompt(passage, tags)
    assert "THE {TEXT}" in prompt
    assert "`Lattice.abc`" in prompt
    assert ("<item>" in prompt) is tags


def test_every_form_of_reply_is_read() -> None:
    for text in (
        reply(GOOD),
        f"Here you are:\n```json\n{reply(GOOD)}\n```",
        json.dumps([GOOD]),
        json.dumps(GOOD),
        tagged(GOOD),
        f"Sure!\n{tagged(GOOD)}\nDone.",
    ):
        assert read_reply(text) == ([DRAFT], []), text


def test_a_reply_that_breaks_off_keeps_what_was_whole() -> None:
    whole = reply(GOOD, GOOD | {"question": "Second?"}, GOOD)
    drafts, _ = read_reply(whole[: whole.index("Second?") + 60])
    assert drafts == [DRAFT]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"wrong": ["a set", "a tuple"]}, "3 options instead of 4"),
        ({"wrong": ["a set", "a tuple", "x", "y"]}, "5 options instead of 4"),
        ({"wrong": "a set"}, "not a list of texts"),
        ({"wrong": ["a set", "a tuple", 3]}, "not a list of texts"),
        ({"wrong": ["a set", "a tuple", " "]}, "not a list of texts"),
        ({"correct": ""}, "no right option"),
        ({"correct": None}, "no right option"),
        ({"question": "  "}, "no text"),
        ({"question": ["x"]}, "no text"),
        ({"question": "x" * 5000}, "too long"),
        ({"question": "What \ud800?"}, "halves of characters"),
        ({"question": "\ud800" * 5000}, "too long"),
        ({"correct": "a \ud800"}, "halves of characters"),
        ({"wrong": ["a set", "a tuple", "\ud83d"]}, "halves of characters"),
        ({"correct": "a\0"}, "control characters"),
        ({"question": "\x1b[31mWhat?"}, "control characters"),
    ],
)
def test_one_malformed_question_is_dropped_alone(change: dict, reason: str) -> None:
    drafts, dropped = read_reply(reply(GOOD | change, GOOD))
    assert drafts == [DRAFT]
    assert len(dropped) == 1
    assert reason in dropped[0].reason
    # What is stored of it is text that a file can hold.
    assert dropped[0].question.encode() is not None


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "1e99999", "[" * 5000])
def test_what_no_reader_of_json_takes_costs_only_itself(number: str) -> None:
    drafts, _ = read_reply(f'{{"a": {number}}} {reply(GOOD)}')
    assert drafts == [DRAFT]
    drafts, _ = read_reply(reply(GOOD) + f'{{"question": {number}}}')
    assert drafts == [DRAFT]


def test_a_sixth_question_is_one_too_many() -> None:
    drafts, dropped = read_reply(reply(*[GOOD] * 6))
    assert (len(drafts), [item.reason for item in dropped]) == (
        5,
        [f"more than {MOST_QUESTIONS} questions in one reply"],
    )


@pytest.mark.parametrize("text", ["", "I cannot.", "{", "{}", "[1, 2]", "<item></item>", "{" * 2000])
def test_a_reply_without_questions_is_reported_once(text: str) -> None:
    drafts, dropped = read_reply(text)
    assert (drafts, len(dropped)) == ([], 1)


def test_no_questions_on_purpose_is_no_fault() -> None:
    assert read_reply('{"questions": []}') == ([], [])


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_reply_breaks_the_parser(text: str) -> None:
    read_reply(text)
    read_reply(f'{{"questions": [{text}')
    read_reply(f"<item>{text}</item>")


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["question", "correct", "wrong", "questions", "x"]), inner)
        ),
        max_leaves=15,
    )
)
def test_no_json_breaks_the_parser(value: object) -> None:
    drafts, _ = read_reply(json.dumps(value))
    for draft in drafts:
        assert draft.question
        assert len(draft.wrong) == 3


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (Draft("Which?", "a list", ("A list.", "b", "c")), "not four different"),
        (Draft("Which?", "`x`", ("x", "b", "c")), "not four different"),
        (Draft("Which?", "caf\u00e9", ("cafe\u0301", "b", "c")), "not four different"),
        (Draft("Which?", "ABC", ("\uff21\uff22\uff23", "b", "c")), "not four different"),
        (Draft("Which?", "lattice", ("lat\u200btice", "b", "c")), "not four different"),
        (Draft("Which?", "lattice", ("\u200b", "b", "c")), "not four different"),
        (Draft("Which?", "x", ("y\nB. right answer is here", "b", "c")), "looks like further options"),
        (Draft("Which?", "x", ("z\n<answer>A</answer>", "b", "c")), "looks like further options"),
        (Draft("Which?\nA) x", "x", ("a", "b", "c")), "looks like further options"),
        (Draft("Which?", "all of the above", ("a", "b", "c")), "refers to other options"),
        (Draft("Which?", "x", ("Both A and B", "b", "c")), "refers to other options"),
        (Draft("According to the text, what is f?", "x", ("a", "b", "c")), "text that is not shown"),
        (Draft("What does the given documentation say of f?", "x", ("a", "b", "c")), "text that is not shown"),
        (Draft("What is f, as described in the document?", "x", ("a", "b", "c")), "text that is not shown"),
        (Draft("What does this code print?", "x", ("a", "b", "c")), "code that is not shown"),
        (Draft("In the snippet, what is f?", "x", ("a", "b", "c")), "code that is not shown"),
        (
            Draft(
                "What does the class Lattice, a lattice vector matrix, hold?", "lattice vector matrix", ("a", "b", "c")
            ),
            "names its answer",
        ),
    ],
)
def test_gates_say_what_is_wrong(draft: Draft, reason: str) -> None:
    assert reason in (pass_gates(draft) or "")


@pytest.mark.parametrize(
    "draft",
    [
        DRAFT,
        Draft("What fills the gap in this code?\n```python\nx = ____(1)\n```", "list", ("set", "dict", "str")),
        Draft("Is the default of `strict` True or False in f?", "True", ("False", "None", "0")),
        Draft("Which format does `to_text` write?", "a text file", ("XML", "JSON", "YAML")),
        Draft("Which document class holds a pd?", "PDEntry", ("Entry", "Phase", "Diagram")),
    ],
)
def test_gates_let_good_questions_pass(draft: Draft) -> None:
    assert pass_gates(draft) is None


def drafts_of(count: int, passage: int = 0) -> list[Draft]:
    return [
        Draft(f"w{passage}x{n} y{passage}z{n} v{n * 7 + passage}?", f"r{n}", (f"a{n}", f"b{n}", f"c{n}"))
        for n in range(count)
    ]


def test_letters_are_balanced_stable_and_right() -> None:
    passages = [Passage(QuestionKind.CODE, f"m.py:f{n}:1", f"f{n}", "g", "function", "text") for n in range(200)]
    written = [(passage, drafts_of(5, n)) for n, passage in enumerate(passages)]
    questions, dropped = make_questions(written, "model", seed=1)
    assert (len(questions), dropped) == (1000, [])
    letters = Counter(question.answer for question in questions)
    assert set(letters) == set(LETTERS)
    assert all(200 < count < 300 for count in letters.values())
    assert all(question.right.startswith("r") for question in questions)
    some, _ = make_questions(written[::2], "model", seed=1)
    assert set(some) <= set(questions)  # the letters of one passage do not hang on the others
    other, _ = make_questions(written, "model", seed=2)
    assert [question.answer for question in other] != [question.answer for question in questions]
    assert QA_CODE.fault(questions_table(QA_CODE, questions)) is None
    assert read_questions(questions_table(QA_CODE, questions)) == questions


def test_what_is_dropped_is_reported_with_its_passage() -> None:
    bad = Draft("According to the text?", "x", ("a", "b", "c"))
    questions, dropped = make_questions([(PASSAGE, [DRAFT, bad, DRAFT])], "model")
    assert len(questions) == 1
    assert [(passage.source_id, item.reason.split()[0]) for passage, item in dropped] == [
        ("m.py:f:1", "the"),
        ("m.py:f:1", "nearly"),
    ]


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h"]), max_size=8).map(" ".join), max_size=12
    ),
    st.sampled_from([0.5, 0.7, 0.85, 1.0]),
)
def test_near_duplicates_are_those_of_comparing_all(texts: list[str], threshold: float) -> None:
    kept: list[int] = []
    expected: dict[int, int] = {}
    for place, text in enumerate(texts):
        words = set(text.split())
        alike = [
            other
            for other in kept
            if words | set(texts[other])
            and words
            and len(words & set(texts[other].split())) / len(words | set(texts[other].split())) >= threshold - 1e-12
        ]
        if alike:
            expected[place] = alike[0]
        else:
            kept.append(place)
    assert near_duplicates(texts, threshold) == expected


def test_three_equal_wrong_answers_are_suspicious() -> None:
    assert looks_mistaken(["B", "B", "B"], "C")
    assert not looks_mistaken(["C", "C", "C"], "C")
    assert not looks_mistaken(["B", "B", "A"], "C")
    assert not looks_mistaken(["B", "B", None], "C")
    assert not looks_mistaken(["B", "B"], "C")


def test_the_schema_accepts_what_the_prompt_asks_for() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate({"questions": [GOOD]}, REPLY_SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"questions": [GOOD | {"wrong": ["a", "b", "c", "d"]}]}, REPLY_SCHEMA)


@pytest.mark.parametrize("unit", ["<item>", "<item><wrong>", "<item><question>q</question><wrong>"])
def test_tags_that_are_never_closed_take_time_in_proportion(unit: str) -> None:
    assert in_proportion(read_reply, unit)
