"""Maps as text: integers from 0 to 1000, tab separated, axes in the first row and column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cme_assets.physics.types import Array

FULL_SCALE = 1000
AXIS_DECIMALS = 4
"""Printed axis values are off by at most 5e-5, far below a fifth of the smallest tolerance of a place on an axis."""

TIE_DECIMALS = 6
"""Intensities are rounded here before they become integers: the last bits of a float, which differ between processors,
cannot then decide between two integers."""


class TableError(ValueError):
    """A text that is not a table; the message says where."""


@dataclass(frozen=True)
class Table:
    """`counts` (n_rows, n_columns) integers, with the printed axis values of `rows` (n_rows,) and `columns`."""

    corner: str
    rows: Array
    columns: Array
    counts: NDArray[np.int64]

    @classmethod
    def of_map(cls, values: Array, rows: Array, columns: Array, corner: str) -> Table:
        """The table of a non-negative map (n_rows, n_columns): its maximum becomes 1000."""
        scaled = np.round(values * (FULL_SCALE / values.max()), TIE_DECIMALS)
        return cls(
            corner,
            np.round(rows, AXIS_DECIMALS),
            np.round(columns, AXIS_DECIMALS),
            np.rint(scaled).astype(np.int64),
        )

    @property
    def text(self) -> str:
        """The table as tab-separated lines."""
        head = "\t".join([self.corner, *(_axis_value(value) for value in self.columns)])
        body = (
            "\t".join([_axis_value(row), *map(str, line)])
            for row, line in zip(self.rows, self.counts.tolist(), strict=True)
        )
        return "\n".join([head, *body])

    @classmethod
    def parse(cls, text: str) -> Table:
        """The table that `text` writes out. Raises TableError naming the line."""
        lines = [line.split("\t") for line in text.strip("\n").split("\n")]
        if len(lines) < 2 or len(lines[0]) < 2:
            raise TableError("a table needs a row of column values and at least one row of counts")
        for number, line in enumerate(lines, start=1):
            if len(line) != len(lines[0]):
                raise TableError(f"line {number}: {len(line)} fields where the first line has {len(lines[0])}")
        try:
            columns = np.array([float(field) for field in lines[0][1:]])
            rows = np.array([float(line[0]) for line in lines[1:]])
            counts = np.array([[int(field) for field in line[1:]] for line in lines[1:]], dtype=np.int64)
        except ValueError as error:
            raise TableError(f"not a number in the table: {error}") from error
        return cls(lines[0][0], rows, columns, counts)


def _axis_value(value: float) -> str:
    return f"{value:.{AXIS_DECIMALS}f}"
