"""Alembic migrations of the ledger, run by `resources.llm.database.migrate`."""
