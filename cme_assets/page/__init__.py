"""The leaderboard page: one file that opens without a server, without a network and without scripts.

report.py    what the page says, read from reports.duckdb
gallery.py   the categories' pictures, read from the lake
charts.py    where lines and marks of the drawings go
inert.py     text of strangers, made harmless
write.py     all of it put into the templates and written
"""
