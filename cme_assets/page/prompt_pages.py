"""A page for each prompt, once, with its tables folded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment

from cme_assets.page.writing import write_text
from cme_assets.schemas import PROMPTS
from resources.lake import Lake

TEMPLATE = "prompt.html.j2"


@dataclass(frozen=True)
class Piece:
    """Words, or a table of so many rows that is folded."""

    text: str
    rows: int = 0


class PromptPages:
    """Pages under `folder`, written when first asked for; `kept` are those that belong to prompts of today."""

    def __init__(self, lake: Lake, folder: Path, templates: Environment) -> None:
        self._lake, self._folder, self._templates = lake, folder, templates
        self._of: dict[str, dict[tuple[int, str], str]] = {}
        loader = templates.loader
        assert loader is not None
        self._form = loader.get_source(templates, TEMPLATE)[0]
        self.kept: set[Path] = set()

    def of(self, category: str) -> dict[tuple[int, str], str]:
        """Addresses by table size and hash of the prompt, relative to the folder. Raises LakeError and OSError."""
        if category not in self._of:
            self._of[category] = self._write(category)
        return self._of[category]

    def _write(self, category: str) -> dict[tuple[int, str], str]:
        if self._lake.stored(PROMPTS, {"category": category}) is None:
            return {}
        names = ["problem_id", "resolution", "prompt_hash"]
        rows = self._lake.read(PROMPTS, {"category": category}, names).to_pylist()
        pages = {(row["resolution"], row["prompt_hash"]): self._address(row) for row in rows}
        self.kept |= {self._folder / page for page in pages.values()}
        if all((self._folder / page).exists() for page in pages.values()):
            return pages
        whole = self._lake.read(PROMPTS, {"category": category}, [*names, "prompt", "exhibits"]).to_pylist()
        for row in whole:
            tables = [exhibit["table"] for exhibit in row["exhibits"]]
            text = self._templates.get_template(TEMPLATE).render(row=row, pieces=pieces(row["prompt"], tables))
            write_text(self._folder / self._address(row), text)
        return pages

    def _address(self, row: dict[str, Any]) -> str:
        identity = hashlib.sha256(f"{row['prompt_hash']}{self._form}".encode()).hexdigest()[:10]
        return f"{row['resolution']}/{row['problem_id']}-{identity}.html"


def pieces(prompt: str, tables: Sequence[str]) -> list[Piece]:
    """The prompt in order, its tables apart."""
    found = []
    for table in tables:
        before, table_there, after = prompt.partition(table)
        if table_there:
            found += [Piece(before), Piece(table, table.count("\n") + 1)]
            prompt = after
    return [*found, Piece(prompt)]
