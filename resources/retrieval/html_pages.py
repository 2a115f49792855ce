"""Documentation as HTML pages in a folder, such as a project's built or saved documentation: each page a document."""

from __future__ import annotations

from pathlib import Path

from lxml import html
from lxml.etree import LxmlError

from resources.retrieval.documents import Document

# Where documentation tools put the text itself; the first that is there is taken.
MAIN = ("//main", "//*[@role='main']", "//article", "//body")
LEFT_OUT = "//script | //style | //nav | //header | //footer | //noscript | //*[@role='navigation']"
BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "hr", "li", "ol", "p"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "pre", "section", "table", "tr", "ul"),
    }
)


class PagesMissing(ValueError):
    """There are no pages to read; one line that says where they were looked for and what to do."""


def read_pages(folder: Path) -> list[Document]:
    """The pages (`*.html`, `*.htm`) below `folder`, by path. Raises PagesMissing."""
    pages = (_read(path, path.relative_to(folder).as_posix()) for path in find_pages(folder))
    return [page for page in pages if page.text]


def find_pages(folder: Path) -> list[Path]:
    """Their files, sorted. Raises PagesMissing."""
    if not folder.is_dir():
        raise PagesMissing(f"{folder}: no such folder; name the folder that holds the documentation's HTML pages")
    paths = sorted(path for pattern in ("*.html", "*.htm") for path in folder.rglob(pattern) if path.is_file())
    if not paths:
        raise PagesMissing(f"{folder}: no HTML page (*.html) below this folder")
    return paths


def _read(path: Path, name: str) -> Document:
    try:
        tree = html.document_fromstring(path.read_bytes(), parser=html.HTMLParser(huge_tree=True))
    except (LxmlError, ValueError):
        return Document(name, name, "")
    title = " ".join((tree.findtext(".//title") or "").split())
    for node in tree.xpath(LEFT_OUT):
        node.drop_tree()
    main = next((found[0] for place in MAIN if (found := tree.xpath(place))), tree)
    return Document(name, title or name, page_text(main))


def page_text(element: html.HtmlElement) -> str:
    """The text of an element, its blocks on lines of their own; preformatted text as it is."""
    parts: list[str] = []
    _collect(element, parts)
    lines = [line.rstrip() for line in "".join(parts).split("\n")]
    kept: list[str] = []
    for line in lines:
        if line.strip() or (kept and kept[-1].strip()):
            kept.append(line)
    return "\n".join(kept).strip()


def _collect(element: html.HtmlElement, parts: list[str]) -> None:
    """The texts in document order, without recursion: pages may be nested very deep."""
    stack: list[tuple[html.HtmlElement | str, bool]] = [(element, False)]
    while stack:
        item, preformatted = stack.pop()
        if isinstance(item, str):
            parts.append(item if preformatted else _collapsed(item))
            continue
        is_block = item.tag in BLOCKS
        inside = preformatted or item.tag == "pre"
        after: list[tuple[html.HtmlElement | str, bool]] = []
        if isinstance(item.tag, str):
            after += [("\n", True)] if is_block else []
            after += [(item.text, inside)] if item.text else []
            for child in item:
                after.append((child, inside))
                after += [(child.tail, inside)] if child.tail else []
            after += [("\n", True)] if is_block else []
        stack.extend(reversed(after))


def _collapsed(text: str) -> str:
    words = " ".join(text.split())
    before, after = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' if before else ''}{words}{' ' if after and words else ''}"
