"""From one table of the lake to the next: rows in, rows and remarks out, nothing of Dagster."""
