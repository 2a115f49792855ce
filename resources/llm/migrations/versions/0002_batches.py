"""Batches at the providers' half-price endpoints."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("key", sa.String(32), primary_key=True, comment="our own name, made before the provider knows of it"),
        sa.Column("provider_id", sa.Text, unique=True, comment="the provider's name; null until it is known"),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False, comment="open, collected or given_up"),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("closed_at", sa.Float),
    )
