"""What a stage hands back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

Remarks = dict[str, str | float | int]
"""What a reader of the partition wants to see: numbers, and Markdown."""


@dataclass(frozen=True)
class Made:
    """Rows of a table, and remarks about them."""

    rows: pa.Table
    remarks: Remarks = field(default_factory=dict)
