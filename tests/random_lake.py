"""Lakes of random scores in the real tables, for tests of the reports and the page: no simulation, no models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cme_assets.schemas import PROBLEMS, scores_table
from resources.lake import Lake

TIERS = {
    1: ["A1", "B8", "B9", "B10", "D1", "D2", "D3", "D4", "D5", "D6", "D7", "F1", "F2", "G1", "G3"],
    2: ["B1", "B3", "B5", "B7", "C1", "C2", "C3", "C4", "C5", "F4", "F6", "G2"],
    3: ["B2", "B4", "B6", "E1", "E2", "E3", "E4", "F3", "F5", "G4", "G5"],
}
"""The 38 categories with their tiers, from the list of categories and not from the code."""
PUBLISHED = {category: tier for tier, categories in TIERS.items() for category in categories}
OWN = {"B11": 2, "H1": 1}
"""Categories beyond those, with their tiers: one in a published domain, one in another."""
TIER_OF = PUBLISHED | OWN
LEVELS = range(5)


@dataclass(frozen=True)
class Evaluation:
    """What to invent: a model whose scores fall from `best` with the level, by `spread` from category to category."""

    model: str
    best: float = 0.6
    spread: float = 0.2
    protocol: str = "direct"
    variant: str = "published"
    resolution: int = 100
    repeats: int = 1
    cost_usd: float | None = 0.0
    unscored: frozenset[str] = frozenset()
    """Problems whose provider failed, in the last repeat."""
    unparseable: frozenset[str] = frozenset()
    """Problems without a usable answer, in every repeat."""
    seed: int = 0


def write_problems(lake: Lake, categories: Iterable[str] = tuple(PUBLISHED), resolution: int = 100) -> None:
    """The questions and examples of these categories."""
    for category in categories:
        rows = [_problem(category, level, draw, resolution) for level in LEVELS for draw in range(4)]
        lake.write(PROBLEMS, {"category": category}, PROBLEMS.rows(rows), {})


def write_scores(lake: Lake, *evaluations: Evaluation, categories: Iterable[str] = tuple(PUBLISHED)) -> None:
    """One file a model and category with the rows of all its evaluations under one protocol."""
    for model, protocol in {(e.model, e.protocol): None for e in evaluations}:
        table = scores_table(protocol)
        for category in categories:
            rows = [
                row
                for evaluation in evaluations
                if (evaluation.model, evaluation.protocol) == (model, protocol)
                for row in _attempts(evaluation, category)
            ]
            lake.write(table, {"model": model, "category": category}, table.rows(rows), {})


def _attempts(evaluation: Evaluation, category: str) -> list[dict[str, object]]:
    names = "/".join(map(str, (evaluation.seed, evaluation.model, evaluation.variant, evaluation.resolution, category)))
    rng = np.random.default_rng(list(names.encode()))
    ease = rng.normal(0, evaluation.spread)
    rows = []
    for repeat in range(evaluation.repeats):
        for level in LEVELS:
            score = float(np.clip(evaluation.best * (1 - level / 8) + ease + rng.normal(0, 0.05), 0, 1))
            rows.append(_attempt(evaluation, category, level, repeat, score))
    return rows


def _attempt(evaluation: Evaluation, category: str, level: int, repeat: int, score: float) -> dict[str, object]:
    problem = f"{category}-L{level}"
    status: str = "ok"
    value: float | None = score
    if problem in evaluation.unparseable:
        status, value = "unparseable", 0.0
    if problem in evaluation.unscored and repeat == evaluation.repeats - 1:
        status, value = "provider_error", None
    lenient = value if value is None or status == "ok" else score
    return {
        "model": evaluation.model,
        "protocol": evaluation.protocol,
        "variant": evaluation.variant,
        "resolution": evaluation.resolution,
        "repeat": repeat,
        "problem_id": problem,
        "category": category,
        "domain": category[0],
        "tier": TIER_OF[category],
        "level": level,
        "status": status,
        "status_lenient": "ok" if status == "unparseable" else status,
        "score": value,
        "score_lenient": lenient,
        "score_wide": None if value is None or category[0] != "D" else min(1.0, 2 * value),
        "prompt_tokens": 1000 * evaluation.resolution,
        "completion_tokens": 500 + level,
        "cost_usd": evaluation.cost_usd,
        "latency_s": 1.5,
        "values_strict": [0.1] if status == "ok" else None,
        "values_lenient": [0.1] if lenient is not None else None,
        "truth": [0.1],
        "gamma": 0.003,
        "rms_over_peak": 0.01 * level,
        "pedestal_over_peak": 0.1 * level,
        "prompt_hash": f"prompt-{problem}",
        "category_hash": f"category-{category}",
        "scorer_version": "1",
    }


def _problem(category: str, level: int, draw: int, resolution: int) -> dict[str, object]:
    return {
        "problem_id": f"{category}-L{level}",
        "category": category,
        "domain": category[0],
        "tier": TIER_OF[category],
        "level": level,
        "resolution": resolution,
        "draw": draw,
        "role": "question" if draw == 3 else "example",
        "title": f"invented {category}",
        "published": category not in OWN,
        "map_kind": "KK" if category[0] == "E" else "QW" if category[0] in "FG" else "EK",
        "noise": 0.1 * level,
        "energy_factor": 1.0,
        "parameters": "{}",
        "x_start": -0.3,
        "x_stop": 0.3,
        "y_start": -0.25,
        "y_stop": 0.05,
        "y_zero": 0.0,
        "listed_axis": None,
        "listed_first": None,
        "listed_last": None,
        "quantity": ["value"],
        "unit": "eV",
        "shape": "scalar",
        "truth": [0.1],
        "gamma": 0.003,
        "gamma_wide": None,
        "category_hash": f"category-{category}",
    }


def at_resolutions(evaluation: Evaluation, *resolutions: int) -> list[Evaluation]:
    """The same evaluation on tables of several sizes."""
    return [replace(evaluation, resolution=resolution) for resolution in resolutions]
