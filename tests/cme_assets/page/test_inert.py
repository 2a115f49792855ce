"""Text of strangers stays text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cme_assets.page.inert import environment, inert

HOSTILE = [
    "<script>document.title='ran'</script>",
    "</td></table><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "<a href='javascript:alert(1)'>here</a> https://collect.example/?q=",
    "<!-- --><style>body{display:none}</style>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "\x1b]8;;https://collect.example\x07click\x1b]8;;\x07\x1b[2J",
    "gpt\u202egnp.exe\u2066\u200b\u200f",
    "&lt;script&gt; &#60;script&#62;",
    "\ud83d",
]


class Elements(HTMLParser):
    """The tags of a text, and its text as a reader sees it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(text: str) -> Elements:
    template = environment().from_string('<p title="{{ text | inert }}">{{ text | inert }}</p>')
    return Elements(template.render(text=text))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(text: str) -> None:
    page = rendered(text)
    assert page.tags == [("p", {"title": inert(text)})]
    assert page.text == inert(text)


@given(st.text(alphabet=st.characters(exclude_characters="\r")))
def test_any_text_is_one_paragraph_of_harmless_characters(text: str) -> None:
    page = rendered(text)
    assert [tag for tag, _ in page.tags] == ["p"]
    assert page.text == inert(text)
    assert page.text.encode("utf-8").decode("utf-8") == page.text
    assert not any(ord(character) < 32 and character not in "\n\t" for character in page.text)
    assert not set("\x7f\x9b\u200e\u200f\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069") & set(page.text)


def test_what_was_there_is_still_told() -> None:
    assert inert("a\x1b[2Jb\tc\n") == "a⟨U+001B⟩[2Jb\tc\n"
    assert inert("Ångström γ² – 電子 👩") == "Ångström γ² – 電子 👩"
