"""What passes between the client and the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from resources.llm.request import WireRequest
from resources.llm.usage import UNKNOWN, Usage
from resources.outcomes import Status


class ClaimState(Enum):
    """What a client may do about a request."""

    MINE = "mine"  # ask it
    ANSWERED = "answered"  # take the stored answer
    HELD = "held"  # another asks it at the moment
    NO_MONEY_YET = "no_money_yet"  # the ceiling is used up by open claims; try again
    NO_MONEY = "no_money"  # the ceiling is used up


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try, as stored. `response` is the body as it came, without the key should it hold it."""

    started_at: float
    finished_at: float
    status: Status
    error: str | None = None
    http_status: int | None = None
    transport: str | None = None
    response: bytes | None = None
    usage: Usage = UNKNOWN
    cost_usd: float | None = None
    price_since: str | None = None
    first_token_seconds: float | None = None
    provider_request_id: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A final outcome as the ledger has it."""

    status: Status
    attempt: Attempt
    attempts: int


@dataclass(frozen=True, slots=True)
class Opening:
    """A wish to ask `wire`; `most_usd` is the most it can cost, None when that is not known."""

    wire: WireRequest
    most_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """The ledger's word on an opening; `tries` were made before, in this run or others."""

    state: ClaimState
    stored: Stored | None = None
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of a claimed request: a try, the final status, or both.

    Without a `status` the claim stays. `charge_usd` is what counts against the budget: the cost, or when that is not
    known the most it can have been.
    """

    hash: str
    attempt: Attempt | None = None
    status: Status | None = None
    charge_usd: float = 0.0


@dataclass(slots=True)
class Exchange:
    """Settlements and openings that go into one transaction."""

    settlements: list[Settlement] = field(default_factory=list)
    openings: list[Opening] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that were given to a provider together, to be answered within a day at half the price."""

    key: str
    endpoint: str
    model: str
    run: str
    requests: int
    created_at: float
    provider_id: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was found out; `noted_at` is seconds since 1970."""

    value: Any
    noted_at: float
