"""From unit tests to drafts in the review folder, and from reviews to the accepted set."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import yaml

from mattools_assets.questions.own import OwnQuestion, read_entry
from mattools_assets.tool_usage.runs import kept_runs
from mattools_assets.triplets.drafting import TOPIC, Draft, check_form, draft
from mattools_assets.triplets.proof import unproven
from mattools_assets.triplets.review import ACCEPT, EDIT, PENDING, REJECT, Review, entry_hash, write_draft
from mattools_assets.triplets.tables import TRIPLET_DRAFTS, TRIPLETS
from mattools_assets.triplets.unit_tests import UnitTest
from mattools_assets.verification.published import SandboxFailed
from resources.lake import combined_hash
from resources.llm.answer import Answer, Tally
from resources.llm.asking import client_for
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.spending import budget_of
from resources.model_entry import ModelEntry
from resources.outcomes import endings
from resources.registry import read_environment
from resources.sandbox.execution import RunsScripts
from resources.settings import Settings
from resources.stage import Made

_log = logging.getLogger(__name__)

Row = dict[str, Any]
Told = Callable[[int, int, str], None]
ACCEPTED, FLAGGED, UNPROVEN = "accepted", "flagged", "unproven"


def review_folder(settings: Settings) -> Path:
    """Where drafts wait for a person, a folder a model."""
    return settings.data / "mattools" / "review"


def ask_for_drafts(settings: Settings, entry: ModelEntry, tests: Sequence[UnitTest], told: Told) -> list[Draft]:
    """A draft of each test by a model, many at a time; what is in the ledger is not asked again.

    Raises LedgerError, and ProbeFailed or UnfitEntry for a model that cannot be asked.
    """
    keys = read_environment(settings.models_file)
    with Ledger(settings.ledger_url) as ledger:
        asking = client_for(entry, ledger, keys, budget_of(settings), _log)
        return asyncio.run(_drafted(asking, entry.max_concurrency, tests, told))


async def _drafted(
    asking: AbstractAsyncContextManager[Client], at_once: int, tests: Sequence[UnitTest], told: Told
) -> list[Draft]:
    free, drafts, tally = asyncio.Semaphore(at_once), list[Draft](), Tally()

    async def one(client: Client, test: UnitTest) -> Draft:
        async def ask(prompt: str, step: str) -> Answer:
            request = ChatRequest([{"role": "user", "content": prompt}], purpose=f"triplets {step}")
            answer = await client.ask(request)
            tally.add(answer)
            return answer

        async with free:
            made = await draft(test, ask)
        drafts.append(made)
        told(len(drafts), len(tests), f"{endings(each.status for each in drafts)}; requests: {tally}")
        return made

    async with asking as client:
        return list(await asyncio.gather(*(one(client, test) for test in tests)))


def make_drafts(settings: Settings, model: str, drafts: Sequence[Draft], suite: Path, told: Told) -> Made:
    """Proves drafts and lays them into the review folder: the rows of `triplet_drafts`. Raises SandboxUnavailable."""
    rows = []
    with kept_runs(settings) as runs:
        for number, each in enumerate(drafts, 1):
            problems, proven = _proof(each.entry, suite, runs) if each.entry else ([], None)
            write_draft(review_folder(settings) / model, each, model, problems)
            rows.append(_draft_row(model, each, problems, proven))
            told(number, len(drafts), f"last {each.id}: {'proven' if proven else 'not proven'}")
    remarks: dict[str, str | float | int] = {
        "unit tests": len(rows),
        "drafts": sum(row["entry"] is not None for row in rows),
        "proven": sum(bool(row["proven"]) for row in rows),
        "review folder": f"`{review_folder(settings) / model}`",
    }
    return Made(TRIPLET_DRAFTS.rows(rows), remarks)


def make_triplets(
    reviews: Sequence[Review], tests: Mapping[tuple[str, str], str], suite: Path, runs: RunsScripts
) -> Made:
    """The rows of `triplets`; `tests` are the hashes of the suite's unit tests by file and name.

    The set's version, in the remarks, changes with any accepted question. Raises SandboxUnavailable.
    """
    rows = [_review_row(review, *_state(review, tests, suite, runs)) for review in reviews]
    flag_repeated(rows)
    accepted = sorted(row["entry_hash"] for row in rows if row["state"] == ACCEPTED)
    remarks: dict[str, str | float | int] = {
        "version": combined_hash(*accepted)[:12],
        **{state: sum(row["state"] == state for row in rows) for state in sorted({row["state"] for row in rows})},
        "states": "\n".join(f"* `{row['triplet_id']}`: {row['state']}" for row in rows[:50]),
    }
    return Made(TRIPLETS.rows(rows), remarks)


def flag_repeated(rows: Sequence[Row]) -> None:
    """Leaves of several accepted questions with one id only the first: answers go by that name."""
    seen: set[str] = set()
    for row in rows:
        if row["state"] != ACCEPTED:
            continue
        if row["triplet_id"] in seen:
            why = f"another accepted question is called {row['triplet_id']!r}: write another id, or reject one"
            row.update(state=FLAGGED, why=why)
        seen.add(row["triplet_id"])


def accepted_questions(rows: Sequence[Row], suite: Path) -> list[OwnQuestion]:
    """The accepted triplets as questions of the own kind."""
    entries = [yaml.safe_load(row["entry"]) for row in rows if row["state"] == ACCEPTED]
    return [read_entry(entry, TOPIC, entry["id"], suite) for entry in entries]


def _state(
    review: Review, tests: Mapping[tuple[str, str], str], suite: Path, runs: RunsScripts
) -> tuple[str, str | None]:
    if review.decision in (PENDING, REJECT):
        return {PENDING: PENDING, REJECT: "rejected"}[review.decision], None
    current = tests.get((review.test_file, review.test_name))
    if current is None:
        return FLAGGED, "its unit test is no longer there"
    if current != review.test_hash:
        return FLAGGED, f"its unit test has changed: look again, then write hash: {current}"
    if review.decision not in (ACCEPT, EDIT):
        return PENDING, None
    problems, proven = _proof(review.entry, suite, runs)
    return (ACCEPTED, None) if proven else (UNPROVEN, "; ".join(problems) or "the sandbox failed; run again")


def _proof(entry: Row, suite: Path, runs: RunsScripts) -> tuple[list[str], bool | None]:
    fault = check_form(entry, suite)
    if fault is not None:
        return [fault], False
    try:
        problems = unproven(read_entry(entry, TOPIC, entry["id"], suite), runs)
    except SandboxFailed:
        return [], None
    return problems, not problems


def _draft_row(model: str, made: Draft, problems: list[str], proven: bool | None) -> Row:
    costs = [answer.cost_usd if answer.attempts else 0.0 for answer in made.answers]
    return {
        "model": model,
        "triplet_id": made.id,
        "test_file": made.test.file,
        "test_name": made.test.name,
        "test_hash": made.test.hash,
        "status": str(made.status),
        "error": made.error or None,
        "entry": yaml.safe_dump(made.entry, sort_keys=False, allow_unicode=True) if made.entry else None,
        "problems": problems,
        "proven": proven,
        "requests": [answer.hash for answer in made.answers],
        "cost_usd": None if None in costs else sum(cost for cost in costs if cost is not None),
    }


def _review_row(review: Review, state: str, why: str | None) -> Row:
    return {
        "triplet_id": str(review.entry.get("id", review.path.stem)),
        "state": state,
        "why": why,
        "decision": review.decision,
        "note": review.note,
        "test_file": review.test_file,
        "test_name": review.test_name,
        "test_hash": review.test_hash,
        "n_properties": len(properties) if isinstance(properties := review.entry.get("properties"), dict) else 0,
        "entry": yaml.safe_dump(review.entry, sort_keys=False, allow_unicode=True),
        "entry_hash": entry_hash(review.entry),
    }
