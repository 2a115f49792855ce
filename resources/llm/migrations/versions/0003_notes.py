"""What was found out about models and providers, once."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "notes",
        sa.Column("kind", sa.String(32), primary_key=True, comment="capabilities or listed"),
        sa.Column("key", sa.String(500), primary_key=True, comment="whom it is about"),
        sa.Column("value", sa.Text, nullable=False, comment="JSON"),
        sa.Column("noted_at", sa.Float, nullable=False),
    )
