"""What each file of the benchmark was made from, beside what `resources.freshness` notes.

A file of a category is good only as long as the category has the same version. Replies do not look at that but only
at the prompts, so that a model is asked again exactly when a prompt has changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cme_assets import schemas, versions
from cme_assets.tasks.catalogue import CATEGORIES
from resources.freshness import Provenance
from resources.freshness import Step as BaseStep
from resources.lake import Key, Lake, Stored
from resources.outcomes import Status


@dataclass(frozen=True)
class Step(BaseStep):
    """One asset; unless `follows_category` is false, another version of the category makes its files stale."""

    follows_category: bool = True

    def provenance(self, lake: Lake, key: Key, **more: str) -> Provenance | None:
        """What a file made now would note down; None where an input is missing."""
        category = {"category_hash": CATEGORIES[key["category"]].hash} if self.follows_category else {}
        return super().provenance(lake, key, **category, **more)


PROBLEMS = Step(schemas.PROBLEMS, (), versions.PROBLEMS)
SPECTRA = Step(schemas.SPECTRA, (schemas.PROBLEMS,), versions.SPECTRA)
NOISY_SPECTRA = Step(schemas.NOISY_SPECTRA, (schemas.PROBLEMS, schemas.SPECTRA), versions.NOISE)
PROMPTS = Step(schemas.PROMPTS, (schemas.PROBLEMS, schemas.NOISY_SPECTRA), versions.PROMPTS)
DATA = (PROBLEMS, SPECTRA, NOISY_SPECTRA, PROMPTS)
"""The assets by category, upstream first."""

DIRECT_RESPONSES = Step(schemas.DIRECT_RESPONSES, (schemas.PROMPTS,), versions.DIRECT, follows_category=False)
DIRECT_SCORES = Step(
    schemas.DIRECT_SCORES, (schemas.PROBLEMS, schemas.NOISY_SPECTRA, schemas.DIRECT_RESPONSES), versions.SCORER
)

CODE_RUNS = Step(schemas.CODE_RUNS, (schemas.PROMPTS,), versions.CODE, follows_category=False)
CODE_SCORES = Step(schemas.CODE_SCORES, (schemas.PROBLEMS, schemas.NOISY_SPECTRA, schemas.CODE_RUNS), versions.SCORER)
REACT_RUNS = Step(schemas.REACT_RUNS, (schemas.PROMPTS,), versions.REACT, follows_category=False)
REACT_SCORES = Step(
    schemas.REACT_SCORES, (schemas.PROBLEMS, schemas.NOISY_SPECTRA, schemas.REACT_RUNS), versions.SCORER
)


def problems_note(resolutions: Iterable[int]) -> Provenance:
    """What a file of problems notes beyond the rest."""
    return {"resolutions": ",".join(str(size) for size in sorted(resolutions))}


def noted_resolutions(stored: Stored | None) -> set[int]:
    """The table sizes that a file of problems holds."""
    return {int(size) for size in (stored.provenance.get("resolutions", "") if stored else "").split(",") if size}


def responses_note(
    entrant: str, repeats: int, statuses: Iterable[str] = (), sizes: Iterable[int] | None = None
) -> Provenance:
    """What a file of replies notes beyond the rest; `unanswered` counts those that are to be asked for again.

    `sizes` are the only table sizes that the entrant is asked at; None is all that there are.
    """
    unanswered = sum(not Status(status).is_scored for status in statuses)
    only = {} if sizes is None else problems_note(sizes)
    return {"entrant_hash": entrant, "repeats": str(repeats), "unanswered": str(unanswered), **only}
