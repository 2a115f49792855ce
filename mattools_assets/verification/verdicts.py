"""What verification says about one answer: property by property, and whether the function ran at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Finding(StrEnum):
    """What was found of one property."""

    PASSED = "passed"
    MISSING = "missing"
    NONE = "none"
    WRONG_TYPE = "wrong_type"
    WRONG_VALUE = "wrong_value"


@dataclass(frozen=True)
class PropertyVerdict:
    """One property: the finding and, unless it passed, a line that says what was expected and what came."""

    name: str
    finding: Finding
    detail: str = ""

    @property
    def passed(self) -> bool:
        """True for a right value of the right type."""
        return self.finding is Finding.PASSED


@dataclass(frozen=True)
class Verdict:
    """One answer. `runnable`: the function returned a dictionary with something in it."""

    runnable: bool
    properties: tuple[PropertyVerdict, ...]

    @property
    def n_passed(self) -> int:
        """Number of properties that passed."""
        return sum(verdict.passed for verdict in self.properties)

    @property
    def fully_right(self) -> bool:
        """True when there is no property that did not pass."""
        return self.n_passed == len(self.properties)
