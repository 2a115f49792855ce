"""The ways in which entrants are asked."""

from cme_assets.protocols.code import CODE
from cme_assets.protocols.direct import DIRECT
from cme_assets.protocols.protocol import Protocol
from cme_assets.protocols.react import REACT

PROTOCOLS: tuple[Protocol, ...] = (DIRECT, CODE, REACT)
"""Each gets a pair of assets, replies and scores."""
