"""The ledger's first schema: texts, requests, attempts, spending, limits."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "texts",
        sa.Column("hash", sa.String(32), primary_key=True, comment="BLAKE2b-128 of the UTF-8 text"),
        sa.Column("size", sa.Integer, nullable=False, comment="bytes before compression"),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "requests",
        sa.Column("hash", sa.String(32), primary_key=True, comment="identity: provider, endpoint, body, repeat"),
        sa.Column("prompt_hash", sa.String(32), nullable=False, comment="the same for all repeats of one request"),
        sa.Column("provider", sa.String(32), nullable=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False, comment="the provider's name for it"),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False, comment="opaque label of who asked first"),
        sa.Column("body", sa.LargeBinary, nullable=False, comment="JSON with long texts as references into texts"),
        sa.Column("status", sa.String(32), comment="final outcome; null while there is none"),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0", comment="tries so far"),
        sa.Column("answer", sa.Integer, comment="number of the attempt that is the final one"),
        sa.Column("claimed_by", sa.Text, comment="process that asks at the moment"),
        sa.Column("claimed_until", sa.Float, comment="when the claim lapses unless renewed"),
        sa.Column("reserved_usd", sa.Float, comment="the most that the claimed request can cost"),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("finished_at", sa.Float),
    )
    claimed = sa.text("claimed_until IS NOT NULL")
    op.create_index("requests_claimed", "requests", ["claimed_until"], sqlite_where=claimed, postgresql_where=claimed)
    op.create_table(
        "attempts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("request_hash", sa.String(32), sa.ForeignKey("requests.hash"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False, comment="counts from 1 within a request"),
        sa.Column("run", sa.Text, nullable=False, comment="label of the run that asked"),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("finished_at", sa.Float, nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("http_status", sa.Integer),
        sa.Column("transport", sa.Text, comment="JSON of the fields sent beside the request's body"),
        sa.Column("response", sa.LargeBinary, comment="the body as it came; of a stream, put together"),
        sa.Column("prompt_tokens", sa.Integer),
        sa.Column("cached_tokens", sa.Integer),
        sa.Column("cache_write_tokens", sa.Integer),
        sa.Column("completion_tokens", sa.Integer),
        sa.Column("reasoning_tokens", sa.Integer),
        sa.Column("cost_usd", sa.Float),
        sa.Column("price_since", sa.String(10), comment="date of the price list that cost_usd is from"),
        sa.Column("first_token_seconds", sa.Float),
        sa.Column("provider_request_id", sa.Text),
        sa.Column("served_model", sa.Text),
        sa.Column("fingerprint", sa.Text),
        sa.UniqueConstraint("request_hash", "number"),
    )
    op.create_table(
        "spending",
        sa.Column("scope", sa.String(200), primary_key=True, comment="'day 2026-01-31' or 'run …'"),
        sa.Column("usd", sa.Float, nullable=False),
    )
    op.create_table(
        "limits",
        sa.Column("key", sa.Text, primary_key=True, comment="endpoint and model"),
        sa.Column("state", sa.Text, nullable=False, comment="JSON of pacing.Pace"),
        sa.Column("updated_at", sa.Float, nullable=False),
    )
