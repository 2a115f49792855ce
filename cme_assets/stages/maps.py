"""Problems, clean maps and noisy maps of one category."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from cme_assets import pictures, schemas
from cme_assets.physics.resolution import Instrument
from cme_assets.physics.types import Array
from cme_assets.posing import measured_table
from cme_assets.problems import DRAWS, EXAMPLES, Sample, add_noise, clean_map, noise_map, problem_id
from cme_assets.tasks.catalogue import CATEGORIES
from cme_assets.tasks.category import Category, Level
from resources.lake import Lake
from resources.stage import Made, Remarks

INSTRUMENT = Instrument()
"""The published kernels."""


def make_problems(category_id: str, resolutions: Iterable[int]) -> Made:
    """The category's problems at every one of `resolutions`."""
    category = CATEGORIES[category_id]
    samples = [Sample(category, draw, size) for size in resolutions for draw in range(DRAWS)]
    rows = [_problem_row(sample, index) for sample in samples for index in range(len(category.levels))]
    question = next(sample for sample in samples if sample.index == EXAMPLES)
    truth = ", ".join(f"{value:.5g}" for value in question.truth[:5]) + (" …" if question.truth.size > 5 else "")
    remarks: Remarks = {
        "title": category.title,
        "question": category.question,
        "answer": f"`{truth}` {category.quantity.unit}",
        "gamma": question.gamma,
        "tier": category.tier,
    }
    return Made(schemas.PROBLEMS.rows(rows), remarks)


def make_spectra(lake: Lake, category_id: str) -> Made:
    """The category's maps after resolution, without noise, one for each energy kernel and draw."""
    category = CATEGORIES[category_id]
    levels = {level.energy_factor: level for level in reversed(category.levels)}
    samples = [Sample(category, draw, size) for size in _resolutions(lake, category_id) for draw in range(DRAWS)]
    rows = []
    for sample in samples:
        for factor in sorted(levels):
            clean = clean_map(sample, levels[factor], INSTRUMENT)
            rows.append(_spectrum_row(sample, factor, clean))
    shown = [row for row in rows if row["resolution"] == rows[0]["resolution"] and row["draw"] in (0, EXAMPLES)]
    sharp = [row for row in shown if row["energy_factor"] == min(levels)]
    remarks: Remarks = {
        "maps": pictures.gallery([(_titled(row), picture_of(row)) for row in sharp]),
        "number of maps": len(rows),
    }
    return Made(schemas.SPECTRA.rows(rows), remarks)


def make_noisy_spectra(lake: Lake, category_id: str) -> Made:
    """The category's maps as measured at all levels."""
    category = CATEGORIES[category_id]
    clean = clean_maps(lake.read(schemas.SPECTRA, {"category": category_id}))
    rows = [
        _noisy_row(Sample(category, draw, size), index, level, clean[size, level.energy_factor, draw])
        for size in _resolutions(lake, category_id)
        for index, level in enumerate(category.levels)
        for draw in range(DRAWS)
    ]
    questions = [r for r in rows if r["draw"] == EXAMPLES and r["resolution"] == rows[0]["resolution"]]
    example = next(r for r in rows if r["draw"] == 0 and r["level"] == len(category.levels) - 1)
    shown = [(f"question, level {r['level']}", picture_of(r)) for r in questions]
    remarks: Remarks = {
        "maps": pictures.gallery([*shown, (f"example, level {example['level']}", picture_of(example))]),
        "rms/peak": _by_level(questions, "rms_over_peak"),
        "pedestal/peak": _by_level(questions, "pedestal_over_peak"),
        "highest rms/peak": float(max(r["rms_over_peak"] for r in rows)),
    }
    return Made(schemas.NOISY_SPECTRA.rows(rows), remarks)


def clean_maps(spectra: pa.Table) -> dict[tuple[int, float, int], Array]:
    """Maps (size, size) by resolution, energy factor and draw."""
    return {
        (row["resolution"], row["energy_factor"], row["draw"]): picture_of(row)
        for row in _arrays(spectra, ["resolution", "energy_factor", "draw"])
    }


def noisy_maps(noisy: pa.Table) -> dict[tuple[int, int, int], Array]:
    """Maps (size, size) by resolution, level and draw."""
    return {
        (row["resolution"], row["level"], row["draw"]): picture_of(row)
        for row in _arrays(noisy, ["resolution", "level", "draw"])
    }


def picture_of(row: dict[str, Any]) -> Array:
    """The map (size, size) of a row."""
    size = int(row["resolution"])
    return np.asarray(row["intensity"], dtype=float).reshape(size, size)


def _arrays(rows: pa.Table, names: list[str]) -> list[dict[str, Any]]:
    """Rows as dictionaries with the map as a numpy array, which is far quicker than a Python list."""
    intensities = rows.column("intensity").combine_chunks()
    listed = rows.select(names).to_pylist()
    return [{**row, "intensity": intensities[i].values.to_numpy()} for i, row in enumerate(listed)]


def _resolutions(lake: Lake, category_id: str) -> list[int]:
    rows = lake.read(schemas.PROBLEMS, {"category": category_id})
    return sorted(set(rows.column("resolution").to_pylist()))


def _problem_row(sample: Sample, index: int) -> dict[str, Any]:
    category, level, axes = sample.category, sample.category.levels[index], sample.axes
    return {
        **_identity(category, index),
        "domain": category.domain,
        "tier": category.tier,
        "resolution": sample.size,
        "draw": sample.index,
        "role": "question" if sample.index == EXAMPLES else "example",
        "title": category.title,
        "published": category.published,
        "map_kind": str(category.map_kind),
        "noise": level.noise,
        "energy_factor": level.energy_factor,
        "parameters": json.dumps(dict(sample.parameters), default=_plain),
        "x_start": axes.x.start,
        "x_stop": axes.x.stop,
        "y_start": axes.y.start,
        "y_stop": axes.y.stop,
        "y_zero": axes.y_zero,
        "listed_axis": sample.listed.axis if sample.listed else None,
        "listed_first": sample.listed.first if sample.listed else None,
        "listed_last": sample.listed.last if sample.listed else None,
        "quantity": list(category.quantity.names),
        "unit": category.quantity.unit,
        "shape": str(category.quantity.shape),
        "truth": sample.truth.tolist(),
        "gamma": sample.gamma,
        "gamma_wide": category.wide_gamma,
        "category_hash": category.hash,
    }


def _spectrum_row(sample: Sample, factor: float, clean: Array) -> dict[str, Any]:
    return {
        "category": sample.category.id,
        "resolution": sample.size,
        "energy_factor": factor,
        "draw": sample.index,
        "intensity": clean.ravel(),
        "peak": float(clean.max()),
        **_printed_axes(sample, clean),
    }


def _noisy_row(sample: Sample, index: int, level: Level, clean: Array) -> dict[str, Any]:
    noisy = add_noise(clean, noise_map(sample, index), level)
    return {
        **_identity(sample.category, index),
        "resolution": sample.size,
        "draw": sample.index,
        "intensity": noisy.values.ravel(),
        "rms_over_peak": noisy.rms_over_peak,
        "pedestal_over_peak": noisy.pedestal_over_peak,
        **_printed_axes(sample, clean),
    }


def _printed_axes(sample: Sample, values: Array) -> dict[str, Any]:
    table = measured_table(sample, values)
    return {"row_values": table.rows, "column_values": table.columns}


def _identity(category: Category, index: int) -> dict[str, Any]:
    return {"problem_id": problem_id(category, index), "category": category.id, "level": index}


def _titled(row: dict[str, Any]) -> str:
    return "question" if row["draw"] == EXAMPLES else "first example"


def _by_level(rows: list[dict[str, Any]], name: str) -> str:
    head = "| " + " | ".join(f"level {row['level']}" for row in rows) + " |"
    body = "| " + " | ".join(f"{row[name]:.3f}" for row in rows) + " |"
    return "\n".join([head, "|" + "---|" * len(rows), body])


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a parameter of type {type(value).__name__} cannot be written down")
