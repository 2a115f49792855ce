"""Both readings of replies: the required form, what people and models write, and whatever an attacker writes."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cme_assets.answers import plain, read_lenient, read_strict
from cme_assets.prompts import answer_text
from resources.outcomes import Status
from tests.timing import in_proportion


@pytest.mark.parametrize(
    ("reply", "wanted", "values"),
    [
        ("<answer>[1.25]</answer>", 1, (1.25,)),
        ("I think <answer>[0]</answer>, no: <answer>[ 2e-3 , -1 ]</answer>", 2, (0.002, -1.0)),
        ("<ANSWER>\n[1,\n2]\n</ANSWER> thanks", 2, (1.0, 2.0)),
    ],
)
def test_strict_reads_the_required_form(reply: str, wanted: int, values: tuple[float, ...]) -> None:
    reading = read_strict(reply, wanted)
    assert (reading.values, reading.status) == (values, Status.OK)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "1.25",
        "<answer>1.25</answer>",
        "<answer>[NaN]</answer>",
        "<answer>[Infinity]</answer>",
        "<answer>[-Infinity]</answer>",
        "<answer>[1e400]</answer>",
        "<answer>[1.25, -1e999]</answer>",
        *(f'<answer>["{text}"]</answer>' for text in ("1.25", "x", "nan", "inf", "1_0", "१", " 1 ", "")),
        '<answer>[{"1": 1}]</answer>',
        "<answer>[true]</answer>",
        "<answer>[[1]]</answer>",
        "<answer>{}</answer>",
        "<answer>[1.25",
        "<answer>[null]</answer>",
        "<answer>" + "[" * 100_000 + "</answer>",
        "<answer>[" + "9" * 10_000 + "]</answer>",
    ],
)
def test_strict_refuses_everything_else(reply: str) -> None:
    assert read_strict(reply, 1).status is Status.UNPARSEABLE


def test_a_wrong_number_of_values_is_a_status_of_its_own() -> None:
    assert read_strict("<answer>[1, 2]</answer>", 3).status is Status.WRONG_SHAPE
    assert read_lenient("values: [1, 2]", 3).status is Status.WRONG_SHAPE


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("The Fermi energy is 12.345 eV.", 12.345),
        ("E_F ≈ **12.345** eV", 12.345),
        ("$E_F = 12.345\\,\\mathrm{eV}$", 12.345),
        ("\\boxed{12.345}", 12.345),
        ("```\n12.345\n```", 12.345),
        ("v = −1.5 eV·Å", -1.5),
        ("about 1.2×10⁻³", 1.2e-3),
        ("about 1.2 \\times 10^{-3}", 1.2e-3),
        ("about 1.2 * 10^-3", 1.2e-3),
        ("1.2e-3", 1.2e-3),
        ("2 × 10^{ 3 } eV", 2e3),
        ("about 2×10^3 (of 10)\n<answer>2 × 10 ^ 3\n</answer>", 2e3),
        ("1,234.5 meV", 1234.5),
        ("The momentum is 0.25 Å⁻¹", 0.25),
        ("The momentum is 0.25 1/Å", 0.25),
        ("The momentum is 0.25 \\text{Å}^{-1}", 0.25),
        ("first 3, then 4.", 4.0),
        ("<answer>0.031 eV</answer> (see 2 figures)", 0.031),
        (".5", 0.5),
        ("+7.", 7.0),
        ("x = 12.345", 12.345),
    ],
)
def test_lenient_reads_what_people_write(reply: str, value: float) -> None:
    reading = read_lenient(reply, 1)
    assert reading.status is Status.OK
    assert reading.values == pytest.approx((value,))


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("p = [0.1, 0.2]", (0.1, 0.2)),
        ("(0.1; 0.2)", (0.1, 0.2)),
        ("bonding 0.1 and antibonding 0.2", (0.1, 0.2)),
        ("[1, 2, 3]\nfinally:\n[0.1, 0.2]", (0.1, 0.2)),
        ("<answer>0.1, 0.2</answer>", (0.1, 0.2)),
        ("[0.1,0.2]", (0.1, 0.2)),
        ("1×10^3 2×10^3", (1e3, 2e3)),
        ("1×10^3 2", (1e3, 2.0)),
        ("```json\n[0.1, 0.2]\n```", (0.1, 0.2)),
    ],
)
def test_lenient_reads_lists(reply: str, values: tuple[float, ...]) -> None:
    assert read_lenient(reply, 2).values == pytest.approx(values)


def test_lenient_lets_a_missing_value_cost_one_place() -> None:
    reading = read_lenient("[0.1, nan, 0.3]", 3)
    assert reading.status is Status.OK
    assert math.isnan(reading.values[1])


def test_no_number_is_unparseable() -> None:
    assert read_lenient("I cannot tell.", 1).status is Status.UNPARSEABLE


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=50))
def test_the_form_of_the_examples_reads_back(values: list[float]) -> None:
    for reading in (read_strict(answer_text(values), len(values)), read_lenient(answer_text(values), len(values))):
        assert reading.status is Status.OK
        assert reading.values == pytest.approx(values, abs=1e-5)


@given(st.text(), st.integers(1, 100))
@settings(max_examples=400)
def test_no_text_raises(reply: str, wanted: int) -> None:
    for read in (read_strict, read_lenient):
        assert read(reply, wanted).status in {Status.OK, Status.UNPARSEABLE, Status.WRONG_SHAPE}


FRAGMENTS = st.sampled_from(
    ["<answer>", "</answer>", "[", "]", "(", "{", ",", "1", "-", "−", "e", "10^", "×", "$", "**", "nan", "inf", "\\",
     "\n", "1,000", ".", "\x00", "\x1b[31m", "Å", "⁻¹", "\\times", "10", " ", "<script>"]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=60).map("".join), st.integers(1, 5))
@settings(max_examples=600)
def test_no_mixture_of_answer_pieces_raises(reply: str, wanted: int) -> None:
    for read in (read_strict, read_lenient):
        read(reply, wanted)
    plain(reply)


HEADS = [
    "",
    "1",
    "1e",
    "1,",
    "×",
    "\\times10",
    "×10^",
    "*10**{",
    "A",
    "A^",
    "A^{",
    "}^{-",
    "1 /",
    "[",
    "<answer>",
    "</answer>",
]
FILLERS = [" ", "\n", "\u00a0", "\t ", "1", "1,111", ",", "[", "(1", "e", "A ^", "×10", "×10^{ ", "- ", "nan",
           "\\times", "1 / ", "<answer>", "<answer></answer>"]  # fmt: skip


@pytest.mark.parametrize("filler", FILLERS)
def test_no_reply_takes_longer_to_read_than_its_length_warrants(filler: str) -> None:
    for head in HEADS:
        assert in_proportion(read, filler, head), head


def read(reply: str) -> None:
    for wanted in (1, 3):
        read_strict(reply, wanted)
        read_lenient(reply, wanted)
