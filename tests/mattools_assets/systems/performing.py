"""A small library in a lake, and systems performed on it against a server of the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from mattools_assets.questions.contract import Question
from mattools_assets.source.project import analyse
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES
from mattools_assets.systems.base import System, ToolAnswer, answer_question
from mattools_assets.systems.library import open_library
from mattools_assets.systems.sources import Means, make_chunks
from mattools_assets.systems.surroundings import LedgeredSurroundings
from resources.lake import Lake
from resources.llm.client import Client
from resources.llm.export import export
from resources.llm.ledger import Ledger
from resources.llm.retry import RetryPolicy
from resources.model_entry import ModelEntry, Parameters
from resources.retrieval.tables import RETRIEVAL_CHUNKS

QUICK = RetryPolicy(errors=2, rejections=2, first_wait=0.01, longest_wait=0.05, try_seconds=20)
PAGES = {"lattice.html": "<html><head><title>Lattices</title></head><body><p>A lattice has a volume.</p></body></html>"}
MODULES = {
    "lattice.py": '''"""Lattices."""


class Lattice:
    """A lattice of three lengths; all angles are right."""

    def __init__(self, a, b, c):
        self.lengths = (a, b, c)

    def volume(self):
        """The volume of the cell, the product of its lengths."""
        a, b, c = self.lengths
        return a * b * c


def cubic(a):
    """A cubic lattice with one length."""
    return Lattice(a, a, a)
''',
    "powder.py": '''"""Powder patterns."""


def bragg_angle(spacing, wavelength):
    """The angle at which planes reflect."""
    return wavelength / 2 / spacing
''',
}
QUESTION = Question("cell-volume", "structures", "What is the volume of a cubic lattice of length 2 Å?", ("volume",))
FUNCTION = "def cell_volume():\n    return {'volume': 2.0**3}\n"


def replied(source: str = FUNCTION, name: str = "cell_volume") -> str:
    """A reply in the published form."""
    return f"<answer>\n<code>\n```python\n{source}```\n</code>\n<name>{name}</name>\n</answer>"


def small_library(folder: Path) -> Lake:
    """A lake with the source of a package `crystals` and all four collections of documents."""
    package, pages = folder / "source" / "crystals", folder / "pages"
    for place, files in ((package, MODULES), (pages, PAGES)):
        place.mkdir(parents=True)
        for name, text in files.items():
            (place / name).write_text(text)
    project = analyse(package.parent, "crystals")
    lake = Lake(folder / "lake")
    lake.write(CODE_OBJECTS, {}, project.code_objects(), {})
    lake.write(REFERENCES, {}, project.reference_table(), {})
    for source in ("code", "official-docs", "object-docs-split", "object-docs"):
        lake.write(RETRIEVAL_CHUNKS, {"source": source}, make_chunks(Means(lake, pages), source).rows, {})
    return lake


def entry(address: str, **more: Any) -> ModelEntry:
    """The model behind the test's server."""
    fields = {"name": "scripted", "provider": "openai_compatible", "model": "m", "base_url": address, "free": True}
    return ModelEntry.model_validate(
        {**fields, "max_concurrency": 4, "parameters": Parameters(max_output_tokens=256), **more}
    )


async def perform(
    system: System, lake: Lake, address: str, folder: Path, question: Question = QUESTION, **more: Any
) -> ToolAnswer:
    """The system's answer, with everything real but the model; `more` goes to the surroundings."""
    model, policy = more.pop("model", None) or entry(address), more.pop("policy", QUICK)
    with Ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
        async with Client(model, ledger, {}, policy=policy) as client:
            library = open_library(lake, system.sources, None)
            around = LedgeredSurroundings(client, model, library, purpose=f"tools {system.name}", **more)
            return await answer_question(system, question, around)


def ledger_rows(folder: Path) -> Sequence[Mapping[str, Any]]:
    """Every try in the ledger."""
    export(f"sqlite:///{folder / 'ledger.sqlite'}", folder / "ledger.parquet")
    return pq.read_table(folder / "ledger.parquet").to_pylist()


def all_in_ledger(answer: ToolAnswer, folder: Path) -> bool:
    """Whether each request of the answer is there with its final outcome and under its step."""
    rows = {row["hash"]: row for row in ledger_rows(folder)}
    return all(
        rows[each.request_hash]["final_status"] == each.status
        and rows[each.request_hash]["purpose"].endswith(each.step)
        for each in answer.asked
    )
