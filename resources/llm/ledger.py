"""The ledger: every request once, every try for ever. What is in it is never paid for twice.

This is the plain, synchronous side; `group_commit` gathers what many requests want into few transactions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Self, TypeVar

import orjson
from sqlalchemy import insert, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from resources.llm.budget import Budget, day_scope, run_scope
from resources.llm.claiming import BATCH_CLAIM_SECONDS, CLAIM_SECONDS, claim, settle, spent
from resources.llm.database import open_engine, reading, writing
from resources.llm.pacing import FORGET_SECONDS, Pace
from resources.llm.records import Batch, Claim, Exchange, Note, Opening, Stored
from resources.llm.request import restore, text_references
from resources.llm.schema import batches, limits, notes, requests, texts
from resources.llm.storing import decompress, load_texts, parts, stored, text_row

T = TypeVar("T")


class Ledger:
    """A ledger at `url`, made or brought to the newest schema when opened. Raises LedgerError with one line."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        self._insert: Any = postgresql_insert if self._engine.dialect.name == "postgresql" else sqlite_insert

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def lookup(self, hashes: Sequence[str]) -> dict[str, Stored]:
        """Final outcomes of those of `hashes` that have one of the model's own; failures of ours are not final."""
        found: dict[str, Stored] = {}
        with reading(self._engine) as connection:
            for part in parts(hashes):
                found.update(stored(connection, part))
        return found

    def known(self, hashes: Sequence[str]) -> set[str]:
        """Those of `hashes` that are requests' here, answered or not."""
        with reading(self._engine) as connection:
            found: set[str] = set()
            for part in parts(hashes):
                found.update(connection.scalars(select(requests.c.hash).where(requests.c.hash.in_(part))))
            return found

    def exchange(self, owner: str, batch: Exchange, budget: Budget) -> list[Claim]:
        """Record settlements and claim openings, in one transaction. One claim an opening, in order."""
        # Compressing long prompts takes longer than all the rest, and others wait for the transaction.
        new_texts = self._new_texts(batch.openings)
        now = time.time()
        with writing(self._engine) as connection:
            if batch.settlements:
                settle(connection, owner, batch.settlements, budget, now)
            if not batch.openings:
                return []
            if new_texts:
                connection.execute(self._insert(texts).on_conflict_do_nothing(), new_texts)
            return claim(connection, owner, batch.openings, budget, now)

    def renew(self, owner: str) -> None:
        """Keep the claims of `owner` from lapsing."""
        self._set_claims(owner, claimed_until=time.time() + CLAIM_SECONDS)

    def release(self, owner: str) -> None:
        """Give up all claims of `owner`."""
        self._set_claims(owner, claimed_by=None, claimed_until=None, reserved_usd=None)

    def spent(self, budget: Budget) -> dict[str, float]:
        """US dollars spent so far in the run and on this day (UTC), by scope."""
        with reading(self._engine) as connection:
            return {scope: spent(connection, scope) for scope in (run_scope(budget.run), day_scope(time.time()))}

    def adjust_pace(self, key: str, change: Callable[[Pace | None], tuple[Pace, T]]) -> T:
        """Change the shared pace of a provider's limit; `change` gets None when there is none or it is too old."""
        now = time.time()
        with writing(self._engine) as connection:
            row = connection.execute(select(limits).where(limits.c.key == key)).one_or_none()
            fresh = row is not None and now - row.updated_at < FORGET_SECONDS
            pace, result = change(Pace(**orjson.loads(row.state)) if row is not None and fresh else None)
            state = {"state": orjson.dumps(asdict(pace)).decode(), "updated_at": now}
            statement = self._insert(limits).values(key=key, **state)
            connection.execute(statement.on_conflict_do_update(index_elements=[limits.c.key], set_=state))
            return result

    def open_batch(self, batch: Batch, owner: str) -> None:
        """Remember a batch before it is submitted; its claims hold until it must have ended."""
        with writing(self._engine) as connection:
            connection.execute(insert(batches), {**asdict(batch), "state": "open"})
            held = update(requests).where(requests.c.claimed_until.is_not(None), requests.c.claimed_by == owner)
            connection.execute(held.values(claimed_until=batch.created_at + BATCH_CLAIM_SECONDS))

    def update_batch(self, key: str, **values: Any) -> None:
        """Set `provider_id`, or `state` and `closed_at`."""
        with writing(self._engine) as connection:
            connection.execute(update(batches).where(batches.c.key == key).values(**values))

    def open_batches(self, endpoint: str, model: str) -> list[Batch]:
        """Batches of a model that were not collected yet, oldest first."""
        names = ("key", "provider_id", "endpoint", "model", "run", "requests", "created_at")
        own = (batches.c.endpoint == endpoint, batches.c.model == model, batches.c.state == "open")
        query = select(*(batches.c[name] for name in names)).where(*own).order_by(batches.c.created_at)
        with reading(self._engine) as connection:
            return [Batch(**row) for row in connection.execute(query).mappings()]

    def recall(self, kind: str, key: str) -> Note | None:
        """What was noted about `key`."""
        query = select(notes.c.value, notes.c.noted_at).where(notes.c.kind == kind, notes.c.key == key)
        with reading(self._engine) as connection:
            row = connection.execute(query).one_or_none()
            return None if row is None else Note(orjson.loads(row.value), row.noted_at)

    def note(self, kind: str, key: str, value: Any) -> None:
        """Note `value`, which JSON can hold, instead of what was noted before."""
        row = {"value": orjson.dumps(value).decode(), "noted_at": time.time()}
        statement = self._insert(notes).values(kind=kind, key=key, **row)
        with writing(self._engine) as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=[notes.c.kind, notes.c.key], set_=row))

    def body(self, request_hash: str) -> Any:
        """A request's body with its texts. Raises KeyError for an unknown hash."""
        with reading(self._engine) as connection:
            blob = connection.execute(select(requests.c.body).where(requests.c.hash == request_hash)).scalar()
            if blob is None:
                raise KeyError(request_hash)
            skeleton = decompress(blob)
            return restore(skeleton, load_texts(connection, text_references(skeleton)))

    def _new_texts(self, openings: Sequence[Opening]) -> list[dict[str, Any]]:
        wanted = {digest: text for opening in openings for digest, text in opening.wire.texts.items()}
        if not wanted:
            return []
        with reading(self._engine) as connection:
            for part in parts(list(wanted)):
                for row in connection.execute(select(texts.c.hash).where(texts.c.hash.in_(part))):
                    wanted.pop(row.hash, None)
        return [text_row(digest, text) for digest, text in wanted.items()]

    def _set_claims(self, owner: str, **values: Any) -> None:
        own = (requests.c.claimed_until.is_not(None), requests.c.claimed_by == owner)
        with writing(self._engine) as connection:
            connection.execute(update(requests).where(*own).values(**values))
