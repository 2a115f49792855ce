"""Scores of one model's replies in one category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cme_assets import schemas, versions
from cme_assets.answers import Reading, read_lenient, read_strict
from cme_assets.problems import EXAMPLES
from cme_assets.scoring import lorentzian_score
from resources.lake import Lake, LakeTable
from resources.outcomes import Status
from resources.stage import Made

SHOWN_VALUES = 4
WORST = 3
_CARRIED = (
    *("model", "protocol", "variant", "resolution", "repeat", "problem_id", "category", "level"),
    *("prompt_tokens", "completion_tokens", "cost_usd", "latency_s", "prompt_hash"),
)


@dataclass(frozen=True)
class Scored:
    """One reading of a reply: how it ended, what it is worth, and the values that were read."""

    status: Status
    score: float | None
    values: tuple[float, ...] | None


def make_scores(lake: Lake, responses: LakeTable, scores: LakeTable, model: str, category_id: str) -> Made:
    """The rows of `scores` for all replies of the partition."""
    questions = _questions(lake, category_id)
    replies = lake.read(responses, {"model": model, "category": category_id}).to_pylist()
    rows = [_score_row(reply, questions[reply["resolution"], reply["level"]]) for reply in replies]
    return Made(scores.rows(rows), _remarks(rows))


def judge(status: Status, reading: Reading, truth: Sequence[float], gamma: float) -> Scored:
    """The final outcome of a reply that was read as `reading`, after a request that ended in `status`."""
    if status is not Status.OK:
        return Scored(status, 0.0 if status.is_scored else None, None)
    if reading.values is None or reading.status is not Status.OK:
        return Scored(reading.status, 0.0, reading.values)
    return Scored(Status.OK, lorentzian_score(reading.values, truth, gamma), reading.values)


def _questions(lake: Lake, category_id: str) -> dict[tuple[int, int], dict[str, Any]]:
    """What a score needs of each question, by resolution and level."""
    key = {"category": category_id}
    names = ["resolution", "level", "draw"]
    facts = lake.read(schemas.PROBLEMS, key).to_pylist()
    noise = lake.read(schemas.NOISY_SPECTRA, key, [*names, "rms_over_peak", "pedestal_over_peak"]).to_pylist()
    ratios = {(row["resolution"], row["level"]): row for row in noise if row["draw"] == EXAMPLES}
    return {
        (row["resolution"], row["level"]): row | ratios[row["resolution"], row["level"]]
        for row in facts
        if row["draw"] == EXAMPLES
    }


def _score_row(reply: Mapping[str, Any], question: Mapping[str, Any]) -> dict[str, Any]:
    status, truth, wanted = Status(reply["status"]), question["truth"], len(question["truth"])
    strict = judge(status, read_strict(reply["reply"], wanted), truth, question["gamma"])
    lenient = judge(status, read_lenient(reply["reply"], wanted), truth, question["gamma"])
    wide = question["gamma_wide"]
    return {
        **{name: reply[name] for name in _CARRIED},
        **{name: question[name] for name in ("domain", "tier", "truth", "gamma", "category_hash")},
        **{name: question[name] for name in ("rms_over_peak", "pedestal_over_peak")},
        "status": str(strict.status),
        "status_lenient": str(lenient.status),
        "score": strict.score,
        "score_lenient": lenient.score,
        "score_wide": judge(status, read_strict(reply["reply"], wanted), truth, wide).score if wide else None,
        "values_strict": strict.values,
        "values_lenient": lenient.values,
        "scorer_version": versions.SCORER,
    }


def _remarks(rows: list[dict[str, Any]]) -> dict[str, str | float | int]:
    scored = [row for row in rows if row["score"] is not None]
    remarks: dict[str, str | float | int] = {
        "scores": _table(sorted(rows, key=lambda row: (row["resolution"], row["level"], row["repeat"]))),
        "coverage": len(scored) / max(len(rows), 1),
    }
    if not scored:
        return remarks
    remarks["mean score"] = sum(row["score"] for row in scored) / len(scored)
    remarks["worst answers"] = _table(sorted(scored, key=lambda row: row["score"])[:WORST], answers=True)
    return remarks


def _table(rows: list[dict[str, Any]], answers: bool = False) -> str:
    """Only numbers and statuses: the reply itself is hostile text and stays in the lake."""
    head = ["problem", "resolution", "repeat", "status", "score", "lenient"] + ["answered", "truth"] * answers
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row["problem_id"], str(row["resolution"]), str(row["repeat"]), row["status"]]
        cells += [_number(row["score"]), _number(row["score_lenient"])]
        cells += [_numbers(row["values_strict"]), _numbers(row["truth"])] if answers else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _numbers(values: Sequence[float] | None) -> str:
    shown = [f"{value:.5g}" for value in (values or ())[:SHOWN_VALUES]]
    return ", ".join(shown) + (" …" if values and len(values) > SHOWN_VALUES else "")
