"""All systems by name. A new one is its own file and its entry here."""

from __future__ import annotations

from mattools_assets.systems.agentic import AGENTIC
from mattools_assets.systems.base import System
from mattools_assets.systems.graph import GRAPH
from mattools_assets.systems.rag import RAG
from mattools_assets.systems.reflection import REFLECTION
from mattools_assets.systems.single import SINGLE

SYSTEMS: dict[str, System] = {system.name: system for system in (SINGLE, *RAG, AGENTIC, GRAPH, *REFLECTION)}
