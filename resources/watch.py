"""What a `watch` in `models.yaml` may say: which newly listed models get an entry by themselves, and at what cost."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from resources.model_entry import ModelEntry, Price, Strict

Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class AssumedPrices(Strict):
    """US dollars per million tokens that an unknown model is taken to cost."""

    input: Price
    output: Price


class Watch(Strict):
    """Models that appear in the list at the address of the entry `like`, and whose names there match `pattern`.

    Patterns are those of a shell (`gpt-5*`); what matches one of `but_not` is passed over. A found model gets an entry
    like that one, may cost `ceiling_usd` in all, ever, and is priced at `assumed_prices`, because no list says a price:
    the ceiling holds as far as they do, so take the dearest to be expected. More than `most_new` at once get none.
    """

    like: str
    pattern: Pattern
    but_not: tuple[Pattern, ...] = ()
    ceiling_usd: Price
    assumed_prices: AssumedPrices | None = None
    most_new: int = Field(default=3, ge=1, le=100)

    def matches(self, model: str) -> bool:
        """Whether a provider's name of a model is one to look for."""
        return fnmatchcase(model, self.pattern) and not any(fnmatchcase(model, other) for other in self.but_not)

    def check(self, entries: Iterable[ModelEntry]) -> tuple[str, str] | None:
        """The field that does not fit the entries and what is wrong with it, or None."""
        template = next((entry for entry in entries if entry.name == self.like), None)
        if template is None or template.provider == "reference":
            return "like", "is no entry that asks a model; write the name of one above"
        if self.assumed_prices is None and not template.costs_nothing:
            return "assumed_prices", "is missing; write what a model not known yet may cost at the most"
        return None
