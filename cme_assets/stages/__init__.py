"""From one table of the lake to the next, a category at a time: rows in, rows and remarks out, nothing of Dagster."""
