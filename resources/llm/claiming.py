"""The two things a writing transaction does: record what became of requests, and decide who may ask which.

Only one process is in such a transaction at a time (see `database.writing`), so what is read here stays true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from resources.llm.budget import Budget, model_scope, run_scope
from resources.llm.owner import is_dead, process_of
from resources.llm.records import Claim, ClaimState, Opening, Settlement
from resources.llm.schema import attempts, requests, spending
from resources.llm.storing import FINAL, attempt_row, compress, parts, stored
from resources.outcomes import Status

# A claim lapses this long after its last renewal; a dead process's claims are free before (see `owner`).
CLAIM_SECONDS = 90.0
# A batch takes a day at most; then its results are there, or it has expired.
BATCH_CLAIM_SECONDS = 30 * 3_600.0

_RECORD = (
    update(requests)
    .where(requests.c.hash == bindparam("the_hash"))
    .values({name: bindparam(f"new_{name}") for name in ("attempts", "status", "answer", "finished_at")})
)
_FREE = (
    update(requests)
    .where(requests.c.hash == bindparam("the_hash"), requests.c.claimed_by == bindparam("the_owner"))
    .values(claimed_by=None, claimed_until=None, reserved_usd=None)
)
_TAKE = (
    update(requests)
    .where(requests.c.hash == bindparam("the_hash"))
    .values({name: bindparam(f"new_{name}") for name in ("claimed_by", "claimed_until", "reserved_usd")})
)


def settle(connection: Connection, owner: str, settlements: Sequence[Settlement], budget: Budget, now: float) -> None:
    """Append tries, set final statuses, free finished claims, count the money.

    A request that was answered meanwhile by another (a claim can lapse while a machine sleeps) keeps that answer.
    """
    known: dict[str, list[Any]] = {}
    for part in parts({settlement.hash for settlement in settlements}):
        columns = (requests.c.hash, requests.c.attempts, requests.c.status, requests.c.answer, requests.c.finished_at)
        for row in connection.execute(select(*columns).where(requests.c.hash.in_(part))):
            known[row.hash] = [row.attempts, row.status, row.answer, row.finished_at]
    rows = []
    for settlement in settlements:
        state = known[settlement.hash]
        if settlement.attempt is not None:
            state[0] += 1
            rows.append(attempt_row(settlement.hash, state[0], budget.run, settlement.attempt))
        if settlement.status is not None and state[1] not in FINAL:
            state[1:] = settlement.status.value, state[0] if settlement.attempt else None, now
    if rows:
        connection.execute(insert(attempts), rows)
    names = ("new_attempts", "new_status", "new_answer", "new_finished_at")
    connection.execute(_RECORD, [{"the_hash": k, **dict(zip(names, v, strict=True))} for k, v in known.items()])
    if finished := [{"the_hash": s.hash, "the_owner": owner} for s in settlements if s.status is not None]:
        connection.execute(_FREE, finished)
    _charge(connection, settlements, budget, now)


def claim(connection: Connection, owner: str, openings: Sequence[Opening], budget: Budget, now: float) -> list[Claim]:
    """Who may ask what: one claim an opening, in order."""
    hashes = [opening.wire.hash for opening in openings]
    rows: dict[str, Any] = {}
    answers: dict[str, Claim] = {}
    for part in parts(hashes):
        columns = [requests.c[n] for n in ("hash", "status", "attempts", "claimed_by", "claimed_until")]
        rows.update((row.hash, row) for row in connection.execute(select(*columns).where(requests.c.hash.in_(part))))
        if any(rows[digest].status in FINAL for digest in part if digest in rows):
            answers.update((digest, Claim(ClaimState.ANSWERED, it)) for digest, it in stored(connection, part))
    till = _Till(connection, owner, budget, now)
    dead = lru_cache(is_dead)
    taken: dict[str, Opening] = {}
    claims = []
    for opening in openings:
        digest = opening.wire.hash
        if digest in answers:
            claims.append(answers[digest])
        elif digest in taken or (digest in rows and _is_held(rows[digest], now, dead)):
            claims.append(Claim(ClaimState.HELD))
        else:
            tries = rows[digest].attempts if digest in rows else 0
            claims.append(Claim(till.ask(opening.most_usd), tries=tries))
            if claims[-1].state is ClaimState.MINE:
                taken[digest] = opening
    _take(connection, owner, taken, rows, now)
    _stop(connection, openings, claims, rows, now)
    return claims


class _Till:
    """What the ceilings leave, with all open claims counted at the most they can cost."""

    def __init__(self, connection: Connection, owner: str, budget: Budget, now: float) -> None:
        self._left: float | None = None
        self._open = 0
        if not budget.has_ceiling:
            return
        is_open = requests.c.claimed_until > now
        reserved = func.coalesce(func.sum(requests.c.reserved_usd), 0.0)
        totals = connection.execute(select(func.count().label("open"), reserved.label("usd")).where(is_open)).one()
        is_own = requests.c.claimed_by.startswith(process_of(owner), autoescape=True)
        own = float(connection.execute(select(reserved).where(is_open, is_own)).scalar_one())
        self._open = int(totals.open)
        ceilings = budget.ceilings(now)
        # A day's ceiling holds over all runs, a run's over what its process has claimed, a model's over its own.
        outstanding = dict.fromkeys(ceilings, float(totals.usd)) | {run_scope(budget.run): own}
        if budget.model is not None and budget.model_usd is not None:
            is_its = (requests.c.endpoint == budget.model[0], requests.c.model == budget.model[1])
            of_the_model: Any = connection.execute(select(reserved).where(is_open, *is_its)).scalar_one()
            outstanding[model_scope(*budget.model)] = float(of_the_model)
        self._left = min(
            usd_ceiling - spent(connection, scope) - outstanding[scope] for scope, usd_ceiling in ceilings.items()
        )

    def ask(self, most_usd: float | None) -> ClaimState:
        # What costs nothing is no matter of money, also where a ceiling was lowered below what is spent.
        if self._left is None or most_usd == 0.0:
            return ClaimState.MINE
        # Without a price nothing can be promised about a ceiling.
        if most_usd is not None and most_usd <= self._left:
            self._left -= most_usd
            self._open += 1
            return ClaimState.MINE
        return ClaimState.NO_MONEY_YET if self._open and most_usd is not None else ClaimState.NO_MONEY


def spent(connection: Connection, scope: str) -> float:
    """US dollars spent in a scope."""
    usd = connection.execute(select(spending.c.usd).where(spending.c.scope == scope)).scalar()
    return float(usd or 0.0)


def _is_held(row: Any, now: float, dead: Callable[[str], bool]) -> bool:
    return row.claimed_until is not None and row.claimed_until > now and not dead(row.claimed_by)


def _take(connection: Connection, owner: str, taken: dict[str, Opening], rows: dict[str, Any], now: float) -> None:
    until = now + CLAIM_SECONDS
    new = [_request_row(o, now) | _claimed(owner, until, o.most_usd) for h, o in taken.items() if h not in rows]
    if new:
        connection.execute(insert(requests), new)
    old = [
        {"the_hash": h} | {f"new_{k}": v for k, v in _claimed(owner, until, o.most_usd).items()}
        for h, o in taken.items()
        if h in rows
    ]
    if old:
        connection.execute(_TAKE, old)


def _stop(
    connection: Connection, openings: Sequence[Opening], claims: Sequence[Claim], rows: dict[str, Any], now: float
) -> None:
    """Requests that the budget stops are in the ledger too, so that the reports know of them."""
    stopped = {
        opening.wire.hash: opening
        for opening, its in zip(openings, claims, strict=True)
        if its.state is ClaimState.NO_MONEY
    }
    new = [_request_row(o, now) | {"status": Status.BUDGET_STOPPED.value} for h, o in stopped.items() if h not in rows]
    if new:
        connection.execute(insert(requests), new)
    if old := [h for h in stopped if h in rows]:
        for part in parts(old):
            marked = update(requests).where(requests.c.hash.in_(part)).values(status=Status.BUDGET_STOPPED.value)
            connection.execute(marked)


def _request_row(opening: Opening, now: float) -> dict[str, Any]:
    wire = opening.wire
    return {
        "hash": wire.hash,
        "prompt_hash": wire.prompt_hash,
        "provider": wire.provider,
        "endpoint": wire.endpoint,
        "model": wire.model,
        "repeat": wire.repeat,
        "purpose": wire.purpose,
        "body": compress(wire.skeleton),
        "created_at": now,
    }


def _claimed(owner: str, until: float, most_usd: float | None) -> dict[str, Any]:
    return {"claimed_by": owner, "claimed_until": until, "reserved_usd": most_usd}


def _charge(connection: Connection, settlements: Sequence[Settlement], budget: Budget, now: float) -> None:
    usd = sum(settlement.charge_usd for settlement in settlements)
    if usd <= 0:
        return
    for scope in budget.scopes(now):
        raised = update(spending).where(spending.c.scope == scope).values(usd=spending.c.usd + usd)
        if connection.execute(raised).rowcount == 0:
            connection.execute(insert(spending), {"scope": scope, "usd": usd})
