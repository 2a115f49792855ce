"""Questions as every set has them, and the text in which they are put to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CONTRACT = """\
Write one Python function that takes no arguments and does all of this.
- Put every import inside the function.
- Read the files named above, if there are any, by exactly these relative paths.
- Return a dictionary whose keys are the property names and whose values are the results.
- Calculate each property in its own `try` block: one that fails has the value None, and the others are still returned.
- Give the function a docstring that says what it returns.
"""


@dataclass(frozen=True)
class Question:
    """One question: what is asked, by which files, and the names of the properties that the answer must hold.

    `files` are relative path and content. `data_at_hand` is False when files that it needs are missing here: its
    answers stay unverified.
    """

    id: str
    topic: str
    text: str
    properties: tuple[str, ...]
    files: Mapping[str, bytes | Path] = field(default_factory=dict, repr=False)
    data_at_hand: bool = True


def posed(text: str, properties: Mapping[str, str], files: Mapping[str, str]) -> str:
    """The whole text of a question: the task, each property (name to `type. description`) and each file (path to
    description)."""
    lines = [text.strip(), "", "Properties to return:"]
    lines += [f"- `{name}`: {description}" for name, description in properties.items()]
    if files:
        lines += ["", "Files:", *(f"- `{name}`" + (f": {about}" if about else "") for name, about in files.items())]
    return "\n".join([*lines, "", CONTRACT])
