"""Review as a step: drafts lie as YAML in a folder, a person decides, and what is accepted is a set with a version.

    review: pending            # accept, edit (the question below was changed) or reject
    note: ""                   # the reviewer's

An accepted question is in the set while its proof holds and its unit test is the one that it was drafted from. When the
test has changed, the file is flagged: look at it again and write the new `hash` that the message names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mattools_assets.triplets.drafting import Draft
from resources.lake import combined_hash
from resources.strict_yaml import UNREADABLE, load_mapping, read_text, why_unreadable

PENDING, ACCEPT, EDIT, REJECT = "pending", "accept", "edit", "reject"
DECISIONS = (PENDING, ACCEPT, EDIT, REJECT)
_FIELDS = ("review", "note", "proof", "test", "drafted_by", "drafted_hash", "question")
HEAD = """\
# A draft of a question, made from a unit test. Decide: write `accept`, `edit` (change the question below first) or
# `reject` behind `review`, and why behind `note`. `proof` lists what is wrong with the draft; nothing there is proven.
"""


class ReviewError(ValueError):
    """A file that cannot be read as a review; one line with the file, the field and the mend."""


@dataclass(frozen=True)
class Review:
    """One file: the decision with its note, the unit test that it is about, and the question's entry."""

    path: Path
    decision: str
    note: str
    test_file: str
    test_name: str
    test_hash: str
    drafted_hash: str
    entry: dict[str, Any]

    @property
    def is_changed(self) -> bool:
        """Whether the question is no longer as it was drafted."""
        return entry_hash(self.entry) != self.drafted_hash


def entry_hash(entry: dict[str, Any]) -> str:
    """Identity of a question's entry."""
    return combined_hash(yaml.safe_dump(entry, sort_keys=True, allow_unicode=True))


def write_draft(folder: Path, draft: Draft, drafted_by: str, proof: list[str]) -> Path | None:
    """Puts a draft into the folder; None where a person has decided already, or there is no question."""
    path = folder / f"{draft.id}.yaml"
    if draft.entry is None or (path.exists() and read_review(path).decision != PENDING):
        return None
    document = {
        "review": PENDING,
        "note": "",
        "proof": proof,
        "test": {"file": draft.test.file, "name": draft.test.name, "hash": draft.test.hash},
        "drafted_by": drafted_by,
        "drafted_hash": entry_hash(draft.entry),
        "question": draft.entry,
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = HEAD + yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
    return path


def read_reviews(folder: Path) -> list[Review]:
    """All reviews below `folder`, by file. Raises ReviewError."""
    return [read_review(path) for path in sorted(folder.rglob("*.yaml"))]


def read_review(path: Path) -> Review:
    """One review. Raises ReviewError."""
    try:
        document = load_mapping(read_text(path))
    except UNREADABLE as error:
        raise ReviewError(why_unreadable(path, error)) from None
    if others := document.keys() - set(_FIELDS):
        raise ReviewError(f"{path}: {min(map(ascii, others))} is no field; there are {', '.join(_FIELDS)}")
    decision, test, entry = document.get("review"), document.get("test"), document.get("question")
    if decision not in DECISIONS:
        raise ReviewError(f"{path}, review {ascii(decision)[:100]}: write one of {', '.join(DECISIONS)}")
    if not isinstance(test, dict) or not all(isinstance(test.get(name), str) for name in ("file", "name", "hash")):
        raise ReviewError(f"{path}, test: give file, name and hash; delete the file to have the draft again")
    note = document.get("note") or ""
    if not isinstance(note, str):
        raise ReviewError(f"{path}, note: write a text; put it into quotes")
    if not isinstance(entry, dict):
        raise ReviewError(f"{path}, question: is missing; delete the file to have the draft again")
    review = Review(
        path=path,
        decision=decision,
        note=note,
        test_file=test["file"],
        test_name=test["name"],
        test_hash=test["hash"],
        drafted_hash=str(document.get("drafted_hash", "")),
        entry=entry,
    )
    if decision == ACCEPT and review.is_changed:
        raise ReviewError(f"{path}, review: the question was changed: write edit instead of accept")
    return review


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that a person can read and change them."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)
