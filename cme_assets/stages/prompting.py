"""Prompts of one category, and the closed-book problem back from a stored prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from cme_assets import schemas
from cme_assets.closed_book import ClosedBookProblem, Exhibit, ListedValues
from cme_assets.posing import pose
from cme_assets.problems import DRAWS, Sample, problem_id
from cme_assets.prompts import render
from cme_assets.stages.maps import INSTRUMENT, noisy_maps
from cme_assets.tables import Table, TableError
from cme_assets.tasks.catalogue import CATEGORIES
from cme_assets.tasks.category import Given, MapKind, Quantity, Shape
from resources.lake import Lake
from resources.stage import Made, Remarks
from resources.tokens import count_tokens

SHOWN_CHARACTERS = 3_000


def make_prompts(lake: Lake, category_id: str) -> Made:
    """The category's prompts at all levels."""
    category = CATEGORIES[category_id]
    maps = noisy_maps(lake.read(schemas.NOISY_SPECTRA, {"category": category_id}))
    rows = []
    for size in sorted({resolution for resolution, _, _ in maps}):
        for index, level in enumerate(category.levels):
            shown = [(Sample(category, draw, size), maps[size, index, draw]) for draw in range(DRAWS)]
            problem = pose(category, level, INSTRUMENT, shown)
            identity = {"problem_id": problem_id(category, index), "category": category_id, "level": index}
            rows.append({**identity, "resolution": size, **_prompt_columns(problem)})
    first = str(rows[0]["prompt"])
    tokens = [int(row["prompt_tokens"]) for row in rows]
    remarks: Remarks = {
        "prompt": f"```\n{first[:SHOWN_CHARACTERS]}\n```",
        "mean prompt tokens": sum(tokens) / len(tokens),
        "longest prompt tokens": max(tokens),
    }
    return Made(schemas.PROMPTS.rows(rows), remarks)


def stored_problem(row: Mapping[str, Any]) -> ClosedBookProblem:
    """The problem of a row of the prompts' table. Raises TableError naming the problem and the line."""
    try:
        exhibits = [_exhibit(item) for item in row["exhibits"]]
    except TableError as error:
        raise TableError(f"{row['problem_id']}: {error}") from None
    return ClosedBookProblem(
        category_id=row["category"],
        map_kind=MapKind(row["map_kind"]),
        observed=row["observed"],
        question=row["question"],
        quantity=Quantity(tuple(row["quantity"]), row["unit"], Shape(row["shape"])),
        fwhm_rows=row["fwhm_rows"],
        fwhm_columns=row["fwhm_columns"],
        examples=tuple(exhibits[:-1]),
        test=exhibits[-1],
    )


def _prompt_columns(problem: ClosedBookProblem) -> dict[str, Any]:
    text = render(problem)
    return {
        "prompt": text,
        "prompt_hash": hashlib.sha256(text.encode()).hexdigest(),
        "prompt_tokens": count_tokens(text),
        "map_kind": str(problem.map_kind),
        "observed": problem.observed,
        "question": problem.question,
        "quantity": list(problem.quantity.names),
        "unit": problem.quantity.unit,
        "shape": str(problem.quantity.shape),
        "wanted": problem.wanted,
        "fwhm_rows": problem.fwhm_rows,
        "fwhm_columns": problem.fwhm_columns,
        "exhibits": [_exhibit_columns(exhibit) for exhibit in (*problem.examples, problem.test)],
    }


def _exhibit_columns(exhibit: Exhibit) -> dict[str, Any]:
    return {
        "table": exhibit.table.text,
        "given": [_given_columns(given) for given in exhibit.given],
        "listed_axis": exhibit.listed.axis if exhibit.listed else None,
        "listed_values": list(exhibit.listed.values) if exhibit.listed else None,
        "answer": list(exhibit.answer) if exhibit.answer is not None else None,
    }


def _given_columns(given: Given) -> dict[str, Any]:
    text = given.value if isinstance(given.value, str) else None
    return {"name": given.name, "number": None if text else float(given.value), "text": text, "unit": given.unit}


def _exhibit(item: Mapping[str, Any]) -> Exhibit:
    listed = ListedValues(item["listed_axis"], tuple(item["listed_values"])) if item["listed_axis"] else None
    given = tuple(Given(g["name"], g["text"] or g["number"], g["unit"]) for g in item["given"])
    answer = None if item["answer"] is None else tuple(item["answer"])
    return Exhibit(Table.parse(item["table"]), given, listed, answer)
