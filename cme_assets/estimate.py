"""`python -m cme_assets.estimate [MODEL …]`: what asking would cost. Nobody is asked.

Prompts are made as they would be sent and their tokens counted (of long ones in samples); what the ledger has already
is left out. How long the answers will be is not known: the mean of what the model replied here before stands for it,
or else what `--answer-tokens` says.
Of agents see `agent_estimate`.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence

from cme_assets import schemas
from cme_assets.tasks.category import CategoryError
from resources.lake import Lake
from resources.llm.estimate import Estimate, estimate
from resources.llm.ledger import Ledger
from resources.llm.wording import Span, in_all
from resources.model_entry import ModelEntry
from resources.registry import Registry
from resources.settings import Settings

ANSWER_TOKENS = 4_000
"""Assumed of a model that has not replied here yet; reasoning models write several times as much."""


def estimates(
    settings: Settings, entries: Sequence[ModelEntry], answer_tokens: int | None = None
) -> Iterator[tuple[Estimate, int]]:
    """What each entry would cost, with the tokens that an answer is taken to have; reference entrants are left out.

    Raises LakeError, LedgerError and CategoryError.
    """
    # Imported here, so that `main` can say what is wrong with the catalogue, which these load.
    from cme_assets.agent_estimate import agent_estimate
    from cme_assets.protocols.agent_runs import agent_limits
    from cme_assets.protocols.code import CODE
    from cme_assets.protocols.direct import DIRECT, answers_here, entrant_hash
    from cme_assets.protocols.model_replies import Questions, partition_of
    from cme_assets.protocols.react import REACT

    lake = Lake(settings.lake)
    categories = [key["category"] for key in lake.keys(schemas.PROMPTS)]
    with Ledger(settings.ledger_url) as ledger:
        for entry in entries:
            if answers_here(entry):
                continue
            expected = answer_tokens or usual_answer(lake, entry.name) or ANSWER_TOKENS
            if DIRECT.takes(entry):
                identity = entrant_hash(entry, settings)
                parts = [partition_of(lake, place, entry, each, identity) for place, each in enumerate(categories)]
                yield estimate(Questions(lake, parts).anew(), entry, ledger, expected), expected
            for agent in (CODE, REACT):
                if agent.takes(entry):
                    yield agent_estimate(lake, settings, agent, entry, agent_limits(settings), expected), expected


def usual_answer(lake: Lake, model: str) -> int | None:
    """Mean tokens of the model's replies so far, or None without any. Raises LakeError."""
    keys = [key for key in lake.keys(schemas.DIRECT_RESPONSES) if key["model"] == model]
    rows = [row for key in keys for row in lake.read(schemas.DIRECT_RESPONSES, key).to_pylist()]
    tokens = [row["completion_tokens"] for row in rows if row["completion_tokens"] > 0]
    return round(sum(tokens) / len(tokens)) if tokens else None


def chosen(registry: Registry, names: Sequence[str]) -> tuple[ModelEntry, ...]:
    """The named entries, or all that are enabled, with or without their key. Raises RegistryError."""
    if names:
        return tuple(registry[name] for name in names)
    return tuple(entry for entry in registry.entries if entry.enabled)


def main() -> int:
    """Print one line a model. Exit status 1 after one line that says what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m cme_assets.estimate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="names in models.yaml; all enabled ones unless given"
    )
    parser.add_argument("--answer-tokens", type=int, default=None, help="tokens of an answer, reasoning included")
    arguments = parser.parse_args()
    logging.getLogger("alembic").setLevel(logging.WARNING)
    from resources.found_models import registry_of
    from resources.lake import LakeError
    from resources.llm.database import LedgerError
    from resources.registry import RegistryError
    from resources.settings import SettingError, read_settings

    try:
        settings = read_settings()
        entries = chosen(registry_of(settings), arguments.models)
        if not Lake(settings.lake).keys(schemas.PROMPTS):
            print(f"error: {settings.lake}: has no prompts yet; `make run` makes them", file=sys.stderr)
            return 1
        print_estimates(settings, entries, arguments.answer_tokens)
    except (SettingError, RegistryError, LakeError, LedgerError, CategoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def print_estimates(settings: Settings, entries: Sequence[ModelEntry], answer_tokens: int | None) -> None:
    """One line a model and protocol, and the sum of those with a price."""
    spans: list[Span | None] = []
    for found, expected in estimates(settings, entries, answer_tokens):
        assumed = f"; {expected:,} tokens an answer assumed" if found.requests else ""
        print(f"{found}{assumed}", flush=True)
        spans.append(found.span)
    print(in_all(spans, ", at most "))


if __name__ == "__main__":
    sys.exit(main())
