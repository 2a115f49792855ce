"""The lenient rule on what models really write."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mattools_assets.qa.answering import strict_letter
from mattools_assets.qa.lenient import lenient_letter
from mattools_assets.qa.questions import LETTERS
from tests.timing import in_proportion


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


MEANT = {
    "reasoning": [
        "<think>The answer is A.</think>\nB",
        "<think>The answer is A.</think>\n**B**",
        "<think>Is it A?</think>\n(B) because it is",
        "<think>The answer is A.</think>\nB. three",
        "So the answer is A. But wait</thinking>\n\nB",
    ],
    "small or other letters": [
        "b",
        "b)",
        "Answer: b",
        "The answer is b.",
        r"$\boxed{\textbf{B}}$",
        "答案是B。",
        "Ｂ",
        "Ответ: B",
    ],
    "the right one beside a wrong one": [
        "The answer is B. The wrong answer is A.",
        "The correct answer is B; an incorrect answer is A.",
        "B is correct. The answer A ignores units.",
        "The final answer is $\\boxed{B}$. Not \\boxed{A}.",
        "The best choice: B. Second best choice: A",
        "I'd go with B rather than A",
        '{"answer": "A", "is_correct": false, "final_answer": "B"}',
        "Since A does not hold, the answer is B",
        "The answer is A.\n\nB",
    ],
    "words around": ["The answer is definitely B", "The answer is **B** because it is"],
}
UNCLEAR = {
    "reasoning without an end": ["<think>The answer is A", "<thinking>I choose B. So"],
    "several": [
        *("The answer is A or B.", "The answer is A and B.", "The answer is A, B.", "A or B", "I choose A, B or C"),
        *("<answer>A or B</answer>", "<answer>A/B</answer>", "<answer>A|B|C|D</answer>", "<answer>A\nB\nC\nD</answer>"),
        *("\\boxed{A, B}", '{"answer": ["A", "B"]}', '{"answer": "A or B"}', "answer: A? B? C?"),
    ],
    "the question again": [
        *("Please select A, B, C, or D.", "Your answer: A, B, C, or D?", "The options for the answer: A, B, C or D."),
        *("Which is the right answer? A. one B. two C. three", "Answer:\nA. one\nB. two\nC. three\nD. four"),
        "I need to choose A, B, C, or D. I am not sure.",
    ],
    "an article or a name": [
        *("Answer: A dictionary", "The correct answer is A Structure object", "<answer>a lattice constant</answer>"),
        *("The answer is C++", "The answer is C#", "Answer: C-centred lattice", "The answer: B-site cation"),
        *("The answer is A₁g", "The answer is A_1", "I'd select A list of sites", "Point group D is true"),
        *("The lattice type $C$ is centred.", "Use `D` for distance.", "I can't help. (C) 2024 the authors"),
    ],
    "denied": [
        *("I would not choose A.", "Don't pick B.", "<answer>B is incorrect</answer>", "Answer A is wrong."),
        *("(A) is wrong.", "I rule out (A).", "A) No.", "A: incorrect.", "The answer isn't A.", "A is not correct"),
        *("The answer is neither A nor B", "The answer is unlikely to be B", "<answer>not A</answer>", "[A] is a trap"),
        *("Option A is wrong. Option B is wrong.", "the correct option (A) was removed", "I pick A. No wait, B!"),
    ],
    "tags that hold no letter": ["<answer></answer> (A)", "<answer>E</answer>\n(A)", "<answer>None</answer> maybe A"],
}


@pytest.mark.parametrize("kind", MEANT)
def test_the_letter_that_a_reader_would_take(kind: str) -> None:
    assert {reply: lenient_letter(reply) for reply in MEANT[kind]} == dict.fromkeys(MEANT[kind], "B")


@pytest.mark.parametrize("reply", ["The answer is A because it is", "Answer: A", "Answer: **A** lattice", "A", "A."])
def test_an_a_that_is_no_article(reply: str) -> None:
    assert lenient_letter(reply) == "A"


@pytest.mark.parametrize("kind", UNCLEAR)
def test_rather_none_than_one_that_a_reader_would_not_take(kind: str) -> None:
    assert {reply: lenient_letter(reply) for reply in UNCLEAR[kind]} == dict.fromkeys(UNCLEAR[kind])


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
    for head in ("", "x", "answer", "the answer is", "\\boxed", "'answer':", "**", "<answer>", "$", "A", "choose"):
        assert in_proportion(lenient_letter, unit, head, "x"), head
