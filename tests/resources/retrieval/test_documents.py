"""Splitting: sizes, lines and identities; pages of HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.retrieval.documents import Document
from resources.retrieval.html_pages import PagesMissing, read_pages
from resources.retrieval.splitting import (
    OVERLAP,
    SIZE,
    TOKENS,
    Split,
    keep_whole,
    split_all,
    split_by_meaning,
    split_code,
    split_text,
)
from resources.tokens import count_tokens, first_tokens

CODE = "".join(
    f"def f{number}(x):\n    '''x plus {number}, which nobody asked for.'''\n    y = x + {number}\n    return y\n\n\n"
    for number in range(60)
)
PROSE = "\n\n".join(
    " ".join(f"Sentence {place} of paragraph {number} is about crystals." for place in range(12)) for number in range(9)
)


@pytest.mark.parametrize("split", [split_code, split_text])
def test_chunks_are_short_enough_and_lose_nothing(split: Split) -> None:
    chunks = split(Document("file.py", "file.py", CODE, first_line=1))
    assert max(len(chunk.text) for chunk in chunks) <= SIZE
    lines = CODE.split("\n")
    for chunk in chunks:
        assert chunk.text.split("\n")[0] in lines[chunk.first_line - 1]
        assert chunk.text.split("\n")[-1] in lines[chunk.last_line - 1]
        assert chunk.last_line - chunk.first_line == chunk.text.count("\n")
    covered = {line for chunk in chunks for line in range(chunk.first_line, chunk.last_line + 1)}
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= covered


def test_code_is_split_at_definitions() -> None:
    assert all(chunk.text.startswith("def f") for chunk in split_code(Document("file.py", "file.py", CODE)))


def test_running_text_overlaps() -> None:
    one_paragraph = PROSE.replace("\n\n", " ")
    chunks = split_text(Document("page", "page", one_paragraph))
    starts = [one_paragraph.index(chunk.text) for chunk in chunks]
    for chunk, start, following in zip(chunks, starts, starts[1:], strict=False):
        assert 0 <= start + len(chunk.text) - following <= OVERLAP
    assert any(
        start + len(chunk.text) > following for chunk, start, following in zip(chunks, starts, starts[1:], strict=False)
    )


def test_text_by_meaning_ends_with_its_sentences() -> None:
    chunks = split_by_meaning(Document("object", "object", PROSE))
    assert len(chunks) > 1
    assert all(count_tokens(chunk.text) <= TOKENS for chunk in chunks)
    assert all(chunk.text.endswith("crystals.") and chunk.text.startswith("Sentence") for chunk in chunks)
    assert " ".join(chunk.text for chunk in chunks).split() == PROSE.split()


def test_whole_documents_stay_whole_and_blank_ones_are_left_out() -> None:
    chunks = split_all([Document("a", "a", PROSE), Document("b", "b", " \n")], keep_whole)
    assert [(chunk.document_id, chunk.text) for chunk in chunks] == [("a", PROSE)]


def test_a_change_leaves_the_other_chunks_their_identity() -> None:
    before = split_code(Document("file.py", "file.py", CODE, 1))
    after = split_code(Document("file.py", "file.py", CODE.replace("plus 31,", "and 31,"), 1))
    assert len({chunk.id for chunk in before}) == len(before)
    assert len({chunk.id for chunk in before} ^ {chunk.id for chunk in after}) == 2


def test_equal_texts_in_a_document_have_identities_of_their_own() -> None:
    same = "x = 1\n" * 400
    chunks = split_code(Document("file.py", "file.py", same))
    assert len({chunk.text_hash for chunk in chunks}) < len(chunks) == len({chunk.id for chunk in chunks})


def test_pages_are_read_without_their_furniture(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "core.html").write_text(
        "<html><head><title>The \n core</title><script>var x = 1;</script></head><body><nav>Home</nav><main>"
        "<h1>Core</h1><p>A <b>lattice</b>\n has lengths.</p>"
        "<pre>a = 1\n    b = 2</pre><ul><li>one</li><li>two</li></ul></main>"
        "<footer>© nobody</footer></body></html>"
    )
    (tmp_path / "broken.htm").write_bytes(b"<p>\xff\xfe<p>unclosed <b>and <i>nested")
    (tmp_path / "empty.html").write_text("")
    pages = {page.id: page for page in read_pages(tmp_path)}
    assert set(pages) == {"api/core.html", "broken.htm"}
    page = pages["api/core.html"]
    assert page.title == "The core"
    assert [line for line in page.text.split("\n") if line] == [
        "Core",
        "A lattice has lengths.",
        "a = 1",
        "    b = 2",
        "one",
        "two",
    ]
    assert pages["broken.htm"].text.endswith("unclosed and nested")


def test_deeply_nested_pages_are_read(tmp_path: Path) -> None:
    (tmp_path / "deep.html").write_text("<div>" * 1500 + "found" + "</div>" * 1500)
    assert "found" in read_pages(tmp_path)[0].text


@pytest.mark.parametrize("name", ["missing", "."])
def test_no_pages_are_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(PagesMissing) as caught:
        read_pages(tmp_path / name)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "word " * 50, "日本語の文字" * 30, "é" * 99])
@pytest.mark.parametrize("most", [1, 7, 40])
def test_the_beginning_of_a_text_is_within_the_limit(text: str, most: int) -> None:
    beginning = first_tokens(text, most)
    assert text.startswith(beginning)
    assert count_tokens(beginning) <= most
    assert beginning == text or count_tokens(text) > most
