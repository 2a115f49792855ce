"""Patterns of `match` statements: the names that they bind, and those that they mention."""

from __future__ import annotations

from tree_sitter import Node

from mattools_assets.source.mentions import identifier
from mattools_assets.source.scopes import Binding, Bound, Mention, Role
from mattools_assets.source.tree import parts_of
from mattools_assets.source.walk import Handler, NameWalk, Place


def case_pattern(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    for child in parts_of(node):
        if child.type == "as_pattern":
            _as_pattern(walk, child, place)
        else:
            walk.push(child, place, role)


def _as_pattern(walk: NameWalk, node: Node, place: Place) -> None:
    pattern, name = parts_of(node)[0], parts_of(node)[-1]
    inner = next(iter(parts_of(pattern)), None)
    kind = parts_of(inner)[0] if inner is not None and inner.type == "class_pattern" else None
    _capture(walk, name, place, kind)
    walk.push(pattern, place)


def _capture(walk: NameWalk, name: Node, place: Place, kind: Node | None = None) -> None:
    how = Bound.OPAQUE if kind is None else Bound.HINT
    place.scope.bind(walk.names.text(name), Binding(how, name.start_byte, place.block, place.scope, kind))


def dotted_name(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    """A plain name is bound; one with dots is a value to compare with."""
    if node.named_child_count == 1:
        _capture(walk, node, place)
    else:
        _mention(walk, node, place)


def class_pattern(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    dotted, *rest = parts_of(node)
    _mention(walk, dotted, place)
    for child in reversed(rest):
        walk.push(child, place)


def _mention(walk: NameWalk, dotted: Node, place: Place) -> None:
    """Mentions the first of the names and, as an attribute, the last."""
    first, last = dotted.named_children[0], dotted.named_children[-1]
    identifier(walk, first, place, Role.USE)
    name = walk.names.text(last)
    if last != first and name in walk.wanted:
        value = Binding(Bound.VALUE, dotted.start_byte, place.block, place.scope, dotted)
        walk.names.mentions.append(Mention(last, name, place.scope, place.owner, Role.USE, binding=value))


def keyword_pattern(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    for child in parts_of(node)[1:]:
        walk.push(child, place)


def splat_pattern(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    for child in parts_of(node):
        _capture(walk, child, place)


HANDLERS: dict[str, Handler] = {
    "case_pattern": case_pattern,
    "dotted_name": dotted_name,
    "class_pattern": class_pattern,
    "keyword_pattern": keyword_pattern,
    "splat_pattern": splat_pattern,
}
