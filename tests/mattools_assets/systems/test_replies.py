"""How replies are read: as published, leniently, or not at all."""

from __future__ import annotations

import contextlib

import pytest

from mattools_assets.systems.replies import FORM, Function, Unreadable, read_function
from resources.outcomes import Status
from tests.timing import in_proportion

BODY = "def volume():\n    return {'volume': 1.0}\n"


def published(code: str = BODY, name: str = "volume") -> str:
    return f"Sure.\n<answer>\n<code>\n```python\n{code}```\n</code>\n<name>{name}</name>\n</answer>"


def test_the_published_form() -> None:
    assert read_function(published()) == Function(BODY, "volume", as_published=True)


def test_our_own_example_is_in_the_published_form() -> None:
    assert read_function(FORM).as_published
    assert read_function(FORM).name == "name_of_the_function"


def test_a_docstring_with_a_fence_stays_whole() -> None:
    code = 'def f():\n    """Use it so:\n```\nf()\n```\n"""\n    return {}\n'
    assert read_function(published(code, "f")) == Function(code, "f")


@pytest.mark.parametrize(
    "reply",
    [
        f"<code>\n{BODY}</code><name>volume</name>",
        f"<code>```py\n{BODY}```</code><name>volume</name>",
        f"<answer><code>```python\n{BODY}```</code></answer>",
        f"<code>```python\n{BODY}```</code><name>volume()</name>",
        f"Here it is:\n```python\n{BODY}```\nRun it:\n```python\nprint(volume())\n```\n",
        f"```\n{BODY}",
    ],
)
def test_a_lenient_reading_is_marked(reply: str) -> None:
    assert read_function(reply) == Function(BODY, "volume", as_published=False)


def test_the_last_function_that_needs_nothing_is_called() -> None:
    code = "def one():\n    return 1\n\n\ndef two(x=1):\n    return one() + x\n\n\ndef three(x):\n    return x\n"
    assert read_function(f"```python\n{code}```").name == "two"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", Status.NO_CODE),
        ("I cannot help with that.", Status.NO_CODE),
        ("<code></code><name>f</name>", Status.NO_CODE),
        ("```json\n{}\n```", Status.NO_CODE),
        ("```python\nx = 1\n```", Status.UNPARSEABLE),
        ("```python\ndef f(x):\n    return x\n```", Status.UNPARSEABLE),
        ("```python\ndef f(:\n```", Status.UNPARSEABLE),
        ("<code>def f(: \x00</code>", Status.UNPARSEABLE),
        (f"<code>{'(' * 100_000}</code>", Status.UNPARSEABLE),
    ],
)
def test_what_cannot_be_read_has_a_status(reply: str, status: Status) -> None:
    with pytest.raises(Unreadable) as caught:
        read_function(reply)
    assert caught.value.status is status


def test_a_broken_function_with_a_name_goes_to_the_sandbox() -> None:
    """Whether it runs is not for the reading to say."""
    assert read_function(published("def volume(:\n")).name == "volume"


UNITS = ["<code>", "```python\n", "```\n<name>", "<name></name>", "`", "\n  ```   \n", " ", "\t", "\n", "(", "a",
         "``` ", "x ", "</code>", "<answer><code>```python"]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_reply_takes_longer_to_read_than_its_length_warrants(unit: str) -> None:
    for head in ("", "```", "```python\n", "  ```  py", "<code>", "<code>```python\n", "<name>"):
        for tail in ("", "!", "\n```", "</code><name>f</name>"):
            assert in_proportion(read, unit, head, tail), (head, tail)


def read(reply: str) -> None:
    with contextlib.suppress(Unreadable):
        read_function(reply)
