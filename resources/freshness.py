"""What a file of the lake was made from, and hence whether it is still good.

A file is good when it would be made from the same things today: the same version of the step's code and inputs with
the same contents. Each benchmark says which steps it has and what else its files note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resources.lake import Key, Lake, LakeTable, Stored, combined_hash

Provenance = dict[str, str]


@dataclass(frozen=True)
class Step:
    """One asset: its table, the tables it is made from, the version of its code."""

    table: LakeTable
    inputs: tuple[LakeTable, ...]
    code_version: str

    def provenance(self, lake: Lake, key: Key, **more: str) -> Provenance | None:
        """What a file made now would note down; None where an input is missing."""
        inputs = [lake.stored(table, {name: key[name] for name in table.keys}) for table in self.inputs]
        present = [stored.content_hash for stored in inputs if stored is not None]
        if len(present) < len(inputs):
            return None
        return {"code_version": self.code_version, "input_hash": combined_hash(*present), **more}


def is_good(stored: Stored | None, expected: Mapping[str, str] | None) -> bool:
    """Whether a file is what would be made now."""
    return stored is not None and expected is not None and dict(stored.provenance) == dict(expected)
