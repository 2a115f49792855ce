"""Runs migrations on the connection that it is given, inside that connection's transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
