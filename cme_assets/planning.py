"""Which partitions are missing or no longer good, and the fewest runs that make them.

The lake decides, not Dagster's event log: each file says what it was made from (see `freshness`), for every category
by itself, while a code version of Dagster belongs to a whole asset.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cme_assets import freshness, schemas
from cme_assets.freshness import Step, noted_resolutions, problems_note, responses_note
from cme_assets.protocols.protocol import Protocol
from cme_assets.tasks.catalogue import CATEGORIES
from resources.freshness import is_good
from resources.lake import Key, Lake, LakeError
from resources.ranges import contiguous
from resources.registry import ModelEntry, partition_folder
from resources.settings import Settings

Partition = TypeVar("Partition")

Pair = tuple[str, str]
"""Model and category."""


@dataclass(frozen=True)
class DataRun:
    """One run over the categories from `first` to `last`, inclusive."""

    assets: tuple[str, ...]
    first: str
    last: str


@dataclass(frozen=True)
class EvaluationRun:
    """One run over all models from `first` to `last` and all categories from `first` to `last`, inclusive."""

    assets: tuple[str, ...]
    first: Pair
    last: Pair


def refuse_unknown_categories(lake: Lake) -> None:
    """Raises LakeError when the lake has categories that the catalogue has not: the reports would count them."""
    stored = {key["category"] for table in schemas.ALL for key in lake.keys(table)}
    if unknown := sorted(stored - CATEGORIES.keys()):
        raise LakeError(
            f"{lake.root}: has files of {', '.join(map(repr, unknown))}, not in the catalogue; put what was removed or"
            " renamed back into the CATEGORIES of its module in cme_assets/tasks, or delete the files by:"
            f" {_deletion(lake, unknown)}"
        )


def _deletion(lake: Lake, categories: Sequence[str]) -> str:
    """The shell's command that removes every folder of these categories, under whichever table and model, no other."""
    folders = [shlex.quote(f"category={partition_folder(category)}") for category in categories]
    named = " -o ".join(f"-name {folder}" for folder in folders)
    return f"find -L {shlex.quote(str(lake.root))} -type d \\( {named} \\) -prune -exec rm -r {{}} +"


def stale_data(lake: Lake, categories: Iterable[str], resolutions: Iterable[int]) -> dict[str, set[str]]:
    """Categories to be made anew, by data asset; what is downstream of a stale file is stale."""
    wanted = set(resolutions)
    stale: dict[str, set[str]] = {step.table.name: set() for step in freshness.DATA}
    for category in categories:
        upstream_stale = False
        for step in freshness.DATA:
            upstream_stale = upstream_stale or not _is_good_data(lake, step, {"category": category}, wanted)
            if upstream_stale:
                stale[step.table.name].add(category)
    return stale


def _is_good_data(lake: Lake, step: Step, key: Key, wanted: set[int]) -> bool:
    stored = lake.stored(step.table, key)
    if step is not freshness.PROBLEMS:
        return is_good(stored, step.provenance(lake, key))
    held = noted_resolutions(stored)
    return wanted <= held and is_good(stored, step.provenance(lake, key, **problems_note(held)))


def stale_responses(
    lake: Lake, settings: Settings, protocol: Protocol, entries: Iterable[ModelEntry], categories: Sequence[str]
) -> set[Pair]:
    """Models by categories to be asked: no replies yet, another prompt, another entrant, or failures not its own."""
    return {
        (entry.name, category)
        for entry in entries
        for category in categories
        if not _is_answered(lake, settings, protocol, entry, {"model": entry.name, "category": category})
    }


def _is_answered(lake: Lake, settings: Settings, protocol: Protocol, entry: ModelEntry, key: Key) -> bool:
    note = responses_note(protocol.entrant_hash(entry, settings), entry.repeats, sizes=entry.resolutions)
    return is_good(lake.stored(protocol.responses.table, key), protocol.responses.provenance(lake, key, **note))


def stale_scores(lake: Lake, protocol: Protocol, entries: Iterable[ModelEntry], categories: Sequence[str]) -> set[Pair]:
    """Models by categories whose replies are to be scored again."""
    keys = [{"model": entry.name, "category": category} for entry in entries for category in categories]
    step = protocol.scores
    bad = [key for key in keys if not is_good(lake.stored(step.table, key), step.provenance(lake, key))]
    return {(key["model"], key["category"]) for key in bad}


def evaluation_plan(
    lake: Lake,
    settings: Settings,
    protocol: Protocol,
    entries: Sequence[ModelEntry],
    models: Sequence[str],
    categories: Sequence[str],
) -> list[EvaluationRun]:
    """Runs that bring the entries' replies and scores up to date; `models` are all partitions, in Dagster's order."""
    asked = stale_responses(lake, settings, protocol, entries, categories)
    scored = asked | stale_scores(lake, protocol, entries, categories)
    stale = {protocol.responses.table.name: asked, protocol.scores.table.name: scored}
    return evaluation_runs(stale, models, categories)


def data_runs(stale: dict[str, set[str]], categories: Sequence[str]) -> list[DataRun]:
    """Runs that cover exactly the stale categories; assets with the same ones run together."""
    runs: list[DataRun] = []
    for assets, wanted in _together(stale):
        runs += [DataRun(assets, first, last) for first, last in contiguous(categories, wanted)]
    return runs


def evaluation_runs(
    stale: dict[str, set[Pair]], models: Sequence[str], categories: Sequence[str]
) -> list[EvaluationRun]:
    """Runs that cover exactly the stale pairs: neighbouring models with the same categories share a run."""
    runs: list[EvaluationRun] = []
    for assets, wanted in _together(stale):
        by_model = {model: frozenset(c for m, c in wanted if m == model) for model in models}
        for group in sorted(set(by_model.values()) - {frozenset()}, key=sorted):
            rows = contiguous(models, {model for model in models if by_model[model] == group})
            columns = contiguous(categories, group)
            runs += [EvaluationRun(assets, (m0, c0), (m1, c1)) for m0, m1 in rows for c0, c1 in columns]
    return runs


def _together(stale: dict[str, set[Partition]]) -> list[tuple[tuple[str, ...], set[Partition]]]:
    """Neighbouring assets with equal sets in one group, in order, empty ones left out."""
    groups: list[tuple[tuple[str, ...], set[Partition]]] = []
    for asset, wanted in stale.items():
        if not wanted:
            continue
        if groups and groups[-1][1] == wanted:
            groups[-1] = ((*groups[-1][0], asset), wanted)
        else:
            groups.append(((asset,), wanted))
    return groups
