"""A file's names: its scopes, what they bind, and every mention of a name worth resolving."""

from __future__ import annotations

from collections.abc import Set

from mattools_assets.source import assignments, blocks, definitions, imports, mentions, patterns
from mattools_assets.source.modules import Modules
from mattools_assets.source.scopes import FileNames
from mattools_assets.source.tree import ParsedFile
from mattools_assets.source.walk import NameWalk

HANDLERS = (
    mentions.HANDLERS
    | definitions.HANDLERS
    | assignments.HANDLERS
    | blocks.HANDLERS
    | imports.HANDLERS
    | patterns.HANDLERS
)


def collect_names(parsed: ParsedFile, place: int, modules: Modules, wanted: Set[str]) -> FileNames:
    """The names of a file, which is at `place` in `modules`; only mentions of `wanted` names are kept."""
    return NameWalk(parsed, place, modules, wanted).run(HANDLERS)
