"""The ways in which entrants are asked."""

from cme_assets.protocols.direct import DIRECT
from cme_assets.protocols.protocol import Protocol

PROTOCOLS: tuple[Protocol, ...] = (DIRECT,)
"""Each gets a pair of assets, replies and scores."""
