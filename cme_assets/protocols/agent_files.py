"""One map as the files that an agent's script finds, and the numbers that it hands back.

The files say what a prompt says of that map and nothing else: the closed-book problem is their only source, and no
answer, neither an example's nor the question's, is among them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.tables import Table

MAP_FILE = "map.csv"
FACTS_FILE = "map.json"


def map_files(problem: ClosedBookProblem, exhibit: Exhibit) -> dict[str, bytes]:
    """`map.csv` and `map.json` of one example or of the question."""
    return {
        MAP_FILE: csv_text(exhibit.table).encode(),
        FACTS_FILE: json.dumps(_facts(problem, exhibit), indent=1, ensure_ascii=False).encode(),
    }


def csv_text(table: Table) -> str:
    """The table with commas: column values in the first line, the row value first in each other line."""
    return table.text.replace("\t", ",") + "\n"


def _facts(problem: ClosedBookProblem, exhibit: Exhibit) -> Mapping[str, Any]:
    listed = exhibit.listed
    return {
        "given": [{"name": given.name, "value": given.value, "unit": given.unit} for given in exhibit.given],
        "listed": {"axis": listed.axis, "values": list(listed.values)} if listed else None,
        "wanted": len(listed.values) if listed else len(problem.quantity.names),
        "fwhm_rows": problem.fwhm_rows,
        "fwhm_columns": problem.fwhm_columns,
    }


def submitted_numbers(result: object) -> tuple[float, ...] | None:
    """The real numbers in what a script submitted (one, a list or an array), or None where there is anything else."""
    if isinstance(result, np.ndarray | np.generic):
        result = result.reshape(-1).tolist()
    items = result if isinstance(result, list | tuple) else [result]
    numbers = [_number(item) for item in items]
    return tuple(number for number in numbers if number is not None) if None not in numbers else None


def _number(item: object) -> float | None:
    """A number, also one in an array of its own: fits often end in one."""
    if isinstance(item, np.ndarray | np.generic) and item.size == 1:
        item = item.reshape(-1)[0].item()
    if isinstance(item, bool) or not isinstance(item, int | float):
        return None
    try:
        return float(item)
    except OverflowError:
        return math.inf
