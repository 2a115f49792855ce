"""What a protocol is: how entrants are asked, and where their replies and scores are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cme_assets.freshness import Step
from resources.lake import Lake
from resources.registry import ModelEntry
from resources.settings import Settings
from resources.stage import Made
from resources.workers import Workers

Asked = Sequence[tuple[ModelEntry, str]]
"""Entries and the categories whose prompts they get."""


class ProtocolError(Exception):
    """What keeps a protocol from asking at all; the message is one line with the mend."""


@dataclass(frozen=True)
class Protocol:
    """One way of asking.

    `answer` yields pairs of a place in what was asked and the rows of replies for it, as they become ready.
    `entrant_hash` identifies whom is asked and with which parameters. `can_answer` says whether an entry runs at all.
    """

    name: str
    responses: Step
    scores: Step
    answer: Callable[[Lake, Workers, Settings, Asked], Iterator[tuple[int, Made]]]
    entrant_hash: Callable[[ModelEntry, Settings], str]
    can_answer: Callable[[ModelEntry], bool]

    def takes(self, entry: ModelEntry) -> bool:
        """Whether the entry is a partition of this protocol."""
        return self.name in entry.protocols and self.can_answer(entry)
