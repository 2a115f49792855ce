"""Versions of the code that all categories share, one for each step: raised when its results change.

Dagster shows them as code versions, and a lake file made under another version is made anew. What belongs to a
single category is declared by that category's own version instead, so that the other 37 stay as they are.
"""

PROBLEMS = "2"
SPECTRA = "1"
NOISE = "1"
PROMPTS = "2"
DIRECT = "2"
"""The direct protocol: raising it asks every model again that has no ledger entry for the same request."""
CODE = "1"
REACT = "1"
"""The agents' protocols, prompts included: raising one runs its agents again; what the ledger has is not paid for."""
SCORER = "2"
"""Parsers and score: raising it scores all replies again and asks nobody."""
