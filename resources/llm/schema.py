"""The ledger's tables. `migrations` builds them; a change here needs a migration there (a test compares the two).

Times are seconds since 1970 (UTC), money is US dollars, texts and bodies are zstd-compressed.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

# The newest migration: a ledger at it is opened without loading Alembic.
REVISION = "0003"

metadata = MetaData()
# SQLite counts rows by itself only in a column of exactly this type.
_Identity = BigInteger().with_variant(Integer(), "sqlite")

texts = Table(
    "texts",
    metadata,
    Column("hash", String(32), primary_key=True, comment="BLAKE2b-128 of the UTF-8 text"),
    Column("size", Integer, nullable=False, comment="bytes before compression"),
    Column("content", LargeBinary, nullable=False),
)

requests = Table(
    "requests",
    metadata,
    Column("hash", String(32), primary_key=True, comment="identity: provider, endpoint, body, repeat"),
    Column("prompt_hash", String(32), nullable=False, comment="the same for all repeats of one request"),
    Column("provider", String(32), nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("model", Text, nullable=False, comment="the provider's name for it"),
    Column("repeat", Integer, nullable=False),
    Column("purpose", Text, nullable=False, comment="opaque label of who asked first"),
    Column("body", LargeBinary, nullable=False, comment="JSON with long texts as references into texts"),
    Column("status", String(32), comment="final outcome; null while there is none"),
    Column("attempts", Integer, nullable=False, server_default="0", comment="tries so far"),
    Column("answer", Integer, comment="number of the attempt that is the final one"),
    Column("claimed_by", Text, comment="process that asks at the moment"),
    Column("claimed_until", Float, comment="when the claim lapses unless renewed"),
    Column("reserved_usd", Float, comment="the most that the claimed request can cost"),
    Column("created_at", Float, nullable=False),
    Column("finished_at", Float),
    Index(
        "requests_claimed",
        "claimed_until",
        sqlite_where=text("claimed_until IS NOT NULL"),
        postgresql_where=text("claimed_until IS NOT NULL"),
    ),
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", _Identity, primary_key=True, autoincrement=True),
    Column("request_hash", String(32), ForeignKey("requests.hash"), nullable=False),
    Column("number", Integer, nullable=False, comment="counts from 1 within a request"),
    Column("run", Text, nullable=False, comment="label of the run that asked"),
    Column("started_at", Float, nullable=False),
    Column("finished_at", Float, nullable=False),
    Column("status", String(32), nullable=False),
    Column("error", Text),
    Column("http_status", Integer),
    Column("transport", Text, comment="JSON of the fields sent beside the request's body"),
    Column("response", LargeBinary, comment="the body as it came; of a stream, put together"),
    Column("prompt_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("cache_write_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("cost_usd", Float),
    Column("price_since", String(10), comment="date of the price list that cost_usd is from"),
    Column("first_token_seconds", Float),
    Column("provider_request_id", Text),
    Column("served_model", Text),
    Column("fingerprint", Text),
    UniqueConstraint("request_hash", "number"),
)

spending = Table(
    "spending",
    metadata,
    Column("scope", String(200), primary_key=True, comment="'day 2026-01-31' or 'run …'"),
    Column("usd", Float, nullable=False),
)

limits = Table(
    "limits",
    metadata,
    Column("key", Text, primary_key=True, comment="endpoint and model"),
    Column("state", Text, nullable=False, comment="JSON of pacing.Pace"),
    Column("updated_at", Float, nullable=False),
)

batches = Table(
    "batches",
    metadata,
    Column("key", String(32), primary_key=True, comment="our own name, made before the provider knows of it"),
    Column("provider_id", Text, unique=True, comment="the provider's name; null until it is known"),
    Column("endpoint", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("state", String(16), nullable=False, comment="open, collected or given_up"),
    Column("created_at", Float, nullable=False),
    Column("closed_at", Float),
)

notes = Table(
    "notes",
    metadata,
    Column("kind", String(32), primary_key=True, comment="capabilities or listed"),
    Column("key", String(500), primary_key=True, comment="whom it is about"),
    Column("value", Text, nullable=False, comment="JSON"),
    Column("noted_at", Float, nullable=False),
)
