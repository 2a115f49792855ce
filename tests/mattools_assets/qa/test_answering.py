"""Letters out of replies: the paper's rule, and the lenient one on what models really write."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mattools_assets.qa.answering import answer_prompt, lenient_letter, strict_letter
from mattools_assets.qa.questions import LETTERS, Question, QuestionKind

QUESTION = Question("q", "o", QuestionKind.DOC, "s", "g", "", "Which?", ("one", "two", "three", "four"), "C")


def test_the_prompt_shows_all_and_not_the_answer() -> None:
    prompt = answer_prompt(QUESTION)
    assert "Which?\n\nA. one\nB. two\nC. three\nD. four" in prompt
    assert prompt == answer_prompt(Question(*[*[getattr(QUESTION, n) for n in QUESTION.__slots__][:-1], "A"]))


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("<answer>B</answer>", "B"),
        (" <answer> B </answer>\n", "B"),
        ("B", "B"),
        ("<answer>b</answer>", None),
        ("<answer>B.</answer>", None),
        ("The answer is <answer>B</answer>", None),
        ("<answer>AB</answer>", None),
        ("<answer>E</answer>", None),
        ("<answer></answer>", None),
        ("", None),
    ],
)
def test_the_papers_rule(reply: str, letter: str | None) -> None:
    assert strict_letter(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("**B**", "B"),
        ("$B$", "B"),
        ("(B)", "B"),
        ("`B`", "B"),
        ('{"answer": "B"}', "B"),
        ('```json\n{"answer": "b"}\n```', "B"),
        ("{'correct_answer': 'B'}", "B"),
        ("<answer>b</answer>", "B"),
        ("<answer>(B)</answer>", "B"),
        ("<answer>B. a lattice</answer>", "B"),
        ("<answer>Option B</answer>", "B"),
        ("<answer>B", "B"),
        ("<answer>A</answer> Wait, no. <answer>C</answer>", "C"),
        ("<think>Is it A? The answer is A.</think>\n<answer>D</answer>", "D"),
        ("Let me think. A is wrong since a Lattice has no sites. The answer is B.", "B"),
        ("The answer is A. No, I was mistaken: the answer is C", "C"),
        ("The correct option is (D).", "D"),
        ("**Answer:** C", "C"),
        ("**Correct answer: B**", "B"),
        ("The correct answer is\n\n**D**", "D"),
        ("Option A is wrong, B is correct.", "B"),
        ("I would choose option C because A is slow", "C"),
        (r"$\boxed{\text{D}}$", "D"),
        ("B) make_supercell", "B"),
        ("**D. 0.5**", "D"),
        ("(A) no\n(B) no\n\nC", "C"),
        ("A) x\nB) y\nC) z\nD) w", None),
        ("(A) or (B)", None),
        ("A good lattice needs three vectors.", None),
        ("I think that a Structure is meant", None),
        ("The answer is a bit unclear", None),
        ("The answer is Because", None),
        ("B's lattice", None),
        ("Dear user, I cannot say.", None),
        ("", None),
    ],
)
def test_the_lenient_rule(reply: str, letter: str | None) -> None:
    assert lenient_letter(reply) == letter


@settings(deadline=None)
@given(st.text(max_size=300))
@example("<answer>" * 50)
@example("**" * 100 + "A")
def test_no_reply_breaks_it_and_strict_is_part_of_lenient(reply: str) -> None:
    strict, lenient = strict_letter(reply), lenient_letter(reply)
    assert lenient is None or lenient in LETTERS
    assert strict is None or strict == lenient


# Without letters that could be taken for an answer, and without words that announce one.
THOUGHTS = st.text(alphabet="efghijklmnopqrstuvwxyz0123456789 .,\n", max_size=200)
FORMS = (
    "<answer>{}</answer>",
    "<answer>\n({})\n</answer>",
    "**{}**",
    "${}$",
    "({})",
    '{{"answer": "{}"}}',
    "The answer is {}.",
    "Final answer: {}",
    "So the correct option is **{}**",
    "\\boxed{{{}}}",
    "I choose {}.",
    "\n{}",
)


@settings(deadline=None)
@given(THOUGHTS, st.sampled_from(FORMS), st.sampled_from(LETTERS))
def test_a_letter_after_any_thoughts_is_found(thoughts: str, form: str, letter: str) -> None:
    assert lenient_letter(f"{thoughts}\n{form.format(letter)}") == letter


@settings(deadline=None)
@given(THOUGHTS, st.lists(st.sampled_from(LETTERS), min_size=2, max_size=5))
def test_the_last_statement_wins(thoughts: str, letters: list[str]) -> None:
    reply = thoughts.join(f"\nThe answer is {letter}.\n" for letter in letters)
    assert lenient_letter(reply) == letters[-1]


@settings(deadline=None)
@given(st.text(alphabet="eghijklmnopqrstuvwxyz \n", max_size=300))
def test_nothing_is_read_into_prose(prose: str) -> None:
    assert lenient_letter(prose) is None


@pytest.mark.parametrize("rule", ["-" * 200, "\n" * 200, "* " * 100, "_" * 200, "=" * 80 + "\n\n"])
def test_long_rules_change_no_reading(rule: str) -> None:
    assert lenient_letter(f"A or B, that is the question.\n{rule}\nThe answer is C") == "C"
    assert lenient_letter(f"Let me think about this one.\n{rule}\n**D**\n{rule}\nThat is all.") == "D"


SIGNS = [
    " ",
    "\n",
    "\t ",
    "*",
    " *",
    "(",
    "[",
    "> ",
    "- ",
    "_",
    "#",
    "$",
    "`",
    "{",
    " :",
    "-",
    "``` ",
    "\\text{",
    "\\boxed{",
]
WORDS = [
    "<answer>",
    "answer ",
    "the answer is ",
    "option ",
    "choose ",
    "go with ",
    "is ",
    "A ",
    "A",
    "**A",
    "'answer' ",
]


@pytest.mark.parametrize("unit", SIGNS + WORDS)
def test_no_reply_takes_longer_to_read_than_its_length_warrants(unit: str) -> None:
    """Beside an ordinary reply as long; work that grew as the square would take several hundred times as much."""
    length = 10_000
    sentence = "The reason is plain enough to see, since it holds. "
    ordinary = min(reading_time(sentence * (length // len(sentence))) for _ in range(3))
    for head in ("", "x", "answer", "the answer is", "\\boxed", "'answer':", "**", "<answer>", "$", "A", "choose"):
        reply = head + unit * (length // len(unit)) + "x"
        assert any(reading_time(reply) < 60 * ordinary for _ in range(3)), head


def reading_time(reply: str) -> float:
    """Processor seconds; those of other processes do not count."""
    start = time.process_time()
    lenient_letter(reply)
    return time.process_time() - start
