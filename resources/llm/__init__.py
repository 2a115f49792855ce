"""Language models: asking them, and never paying twice.

`run.ask_all` asks many requests of one model and `client.Client` single ones; `ledger.Ledger` keeps every request and
every try; `budget.Budget` caps the money. Nothing here knows Dagster or a benchmark. Each file holds one concern and
says which.
"""
