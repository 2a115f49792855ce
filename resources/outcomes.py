"""How a request or an execution can end, and whose doing that was.

Every request and every execution ends in exactly one status. The model's own failures count as zero; failures of
the provider or of this project leave the score empty, are counted in the coverage and are tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum


class Status(StrEnum):
    """The final outcome of one request or one execution."""

    OK = "ok"

    UNPARSEABLE = "unparseable"
    WRONG_SHAPE = "wrong_shape"
    EMPTY = "empty"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    CONTEXT_OVERFLOW = "context_overflow"
    NO_CODE = "no_code"
    CODE_ERROR = "code_error"
    CODE_TIMEOUT = "code_timeout"
    CODE_MEMORY = "code_memory"
    STEP_LIMIT = "step_limit"

    PROVIDER_ERROR = "provider_error"
    SANDBOX_ERROR = "sandbox_error"
    BUDGET_STOPPED = "budget_stopped"

    @property
    def is_scored(self) -> bool:
        """True when the outcome is the model's own and so has a score, be it zero."""
        return self not in NOT_THE_MODELS_FAULT


NOT_THE_MODELS_FAULT = frozenset({Status.PROVIDER_ERROR, Status.SANDBOX_ERROR, Status.BUDGET_STOPPED})
MODEL_FAILURES = frozenset(Status) - NOT_THE_MODELS_FAULT - {Status.OK}


def endings(statuses: Iterable[str]) -> str:
    """How many ended in which way, in words: `15 no_code, 45 ok`."""
    return ", ".join(f"{count} {status}" for status, count in sorted(Counter(map(str, statuses)).items()))
