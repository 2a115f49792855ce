"""The function in a model's reply: its code and its name, each in tags, as published.

    <answer><code>```python … ```</code><name>…</name></answer>

Replies are hostile text: nothing here executes it or raises anything but Unreadable, and the time taken grows in
proportion to the length.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from dataclasses import dataclass

from resources.outcomes import Status

FORM = """\
Reply in this form and write nothing after it:
<answer>
<code>
```python
def name_of_the_function():
    ...
```
</code>
<name>name_of_the_function</name>
</answer>
"""

# Possessive: two runs of blanks with nothing between them share out a long one in every way.
_FENCE = re.compile(r"^[ \t]*+```[ \t]*+([\w+-]*+)[ \t]*+$", re.MULTILINE)
_PYTHON = ("", "python", "py", "python3")


class Unreadable(ValueError):
    """A reply without a function that could be called; `status` is the outcome, the text says why."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Function:
    """Source text and the name to be called. `as_published` is False where only a lenient reading found them.

    The published harness counts such a reply as no function at all; reports in `paper` mode should do so too.
    """

    source: str
    name: str
    as_published: bool = True


def read_function(reply: str) -> Function:
    """The function of a reply.

    As published: fenced Python between `<code>` tags and the name between `<name>` tags, the first of each. Leniently:
    code in the tags without a fence, or the last fenced block that defines a function; the name in the tags, or that of
    the last function at the top level that can be called without arguments. Raises Unreadable: `no_code` where there
    is nothing like code, `unparseable` where no function can be told.
    """
    strict = _as_published(reply)
    if strict is not None:
        return strict
    code = inside(reply, "code")
    source = _without_fence(code) if code is not None and code.strip() else _last_block(reply)
    if not source.strip():
        raise Unreadable(Status.NO_CODE, "the reply holds no code")
    given = (inside(reply, "name") or "").strip()
    name = given if _is_name(given) else _last_callable(source)
    if name is None:
        raise Unreadable(Status.UNPARSEABLE, "the reply names no function, and its code defines none without arguments")
    return Function(source, name, as_published=False)


def _as_published(reply: str) -> Function | None:
    code, name = inside(reply, "code"), (inside(reply, "name") or "").strip()
    if code is None or not _is_name(name):
        return None
    text = code.strip()
    if not (text.startswith("```python") and text.endswith("```") and len(text) > len("```python") + 3):
        return None
    source = text.removeprefix("```python").removesuffix("```")
    return Function(source.strip("\n") + "\n", name) if source.strip() else None


def inside(text: str, tag: str) -> str | None:
    """What stands between the first opening tag and the first closing one after it."""
    _, opened, rest = text.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside if opened and closed else None


def _without_fence(code: str) -> str:
    block = _last_block(code)
    return block if block.strip() else code.strip("\n") + "\n"


def _last_block(text: str) -> str:
    """The last fenced Python block that is not empty, one that defines a function before one that does not."""
    marks = list(_FENCE.finditer(text))
    blocks, opened = [], None
    for mark in marks:
        if opened is None:
            opened = mark
            continue
        if opened.group(1).lower() in _PYTHON:
            blocks.append(text[opened.end() : mark.start()].strip("\n") + "\n")
        opened = None
    if opened is not None and opened.group(1).lower() in _PYTHON:
        blocks.append(text[opened.end() :].strip("\n") + "\n")
    filled = [block for block in blocks if block.strip()]
    defining = [block for block in filled if re.search(r"^[ \t]*(?:async )?def ", block, re.MULTILINE)]
    return (defining or filled or [""])[-1]


def _last_callable(source: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _needs_nothing(node)]
    return names[-1] if names else None


def _needs_nothing(node: ast.FunctionDef) -> bool:
    arguments = node.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    return positional == len(arguments.defaults) and all(default is not None for default in arguments.kw_defaults)


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)
