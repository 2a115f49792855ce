"""Versions of the knowledge side's code, one for each step: raised when its results change.

Dagster shows them as code versions, and a lake file made under another version is made anew.
"""

SOURCE = "3"
"""Tree, references and order."""
DOCUMENTS = "1"
PASSAGES = "1"
QUESTIONS = "2"
"""Reading replies and the gates: raising it makes questions anew from replies that the ledger has."""
ANSWERS = "1"
"""How a question is put: raising it puts all of them again."""
SCORER = "2"
"""Parsers, accuracies and intervals: raising it scores all replies again and asks nobody."""
