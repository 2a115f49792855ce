"""When a document is still good: its identity, a hash of what it was written from."""

from __future__ import annotations

from functools import cache

from mattools_assets.docs.graph import CodeGraph
from resources.lake import combined_hash

DEFAULT_DEPTH = 1


def document_identities(graph: CodeGraph, version: str, depth: int = DEFAULT_DEPTH) -> dict[str, str]:
    """The identity of each object's document.

    It covers `version` (of the prompt and its settings), the object's code, that of its cycle, and the identities of
    the callees' documents down to `depth`. So a change of code reaches the callers `depth` steps up and no further:
    0 rewrites only what changed itself, 1 also its direct callers. An object's place in its file does not count.
    """

    @cache
    def identity(object_id: str, steps: int) -> str:
        item = graph.objects[object_id]
        own = [version, item.file, item.qualified_name, *item.decorators, item.code]
        fellows = sorted(graph.objects[other].code for other in graph.fellows(item))
        below = sorted(identity(callee, steps - 1) for callee in graph.waits_for.get(object_id, ())) if steps else []
        return combined_hash(*own, "fellows", *fellows, "callees", *below)

    return {object_id: identity(object_id, depth) for object_id in graph.objects}
