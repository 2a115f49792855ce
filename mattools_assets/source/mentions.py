"""Expressions: which names they mention."""

from __future__ import annotations

from tree_sitter import Node, Parser, Range

from mattools_assets.source.scopes import Access, Role
from mattools_assets.source.tree import PYTHON
from mattools_assets.source.walk import Handler, NameWalk, Place

LARGE_LITERAL_BYTES = 262_144
LONGEST_QUOTED_HINT = 500


def identifier(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    walk.mention(node, walk.names.text(node), place, role)


def attribute(walk: NameWalk, node: Node, place: Place, role: Role, access: Access = Access.READ) -> None:
    last = node.child_by_field_name("attribute")
    if last is not None:
        walk.mention(node, walk.names.text(last), place, role, access)
    walk.push(node.child_by_field_name("object"), place, Role.HINT if role is Role.HINT else Role.USE)


def call(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    walk.push(node.child_by_field_name("arguments"), place)
    walk.push(node.child_by_field_name("function"), place, role if role is Role.DECORATE else Role.CALL)


def keyword_argument(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    walk.push(node.child_by_field_name("value"), place)


def string(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    if role is Role.HINT and node.end_byte - node.start_byte <= LONGEST_QUOTED_HINT:
        _quoted_hint(walk, node, place)
    else:
        walk.stack += [(child, place, Role.USE) for child in node.named_children if child.type == "interpolation"]


def _quoted_hint(walk: NameWalk, node: Node, place: Place) -> None:
    content = next((child for child in node.named_children if child.type == "string_content"), None)
    if content is None:
        return
    inside = Range(content.start_point, content.end_point, content.start_byte, content.end_byte)
    root = Parser(PYTHON, included_ranges=[inside]).parse(walk.names.data).root_node
    if root.has_error or [child.type for child in root.named_children] != ["expression_statement"]:
        return  # text that only stands where a hint could
    walk.names.quoted_hints[node.id] = root
    walk.push_children(root, place, Role.HINT)


def generic(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    if role is Role.HINT and walk.names.text(node.named_children[0]).endswith("Literal"):
        return
    walk.push_children(node, place, role)


def literal(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    if node.end_byte - node.start_byte > LARGE_LITERAL_BYTES:
        walk.names.large_literals.append(node)
    else:
        walk.push_children(node, place, role)


def ignore(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    """Nothing below this node is a name."""


HANDLERS: dict[str, Handler] = {
    "identifier": identifier,
    "attribute": attribute,
    "call": call,
    "keyword_argument": keyword_argument,
    "string": string,
    "comment": ignore,
    "generic_type": generic,
    "subscript": generic,
    "list": literal,
    "dictionary": literal,
    "set": literal,
    "tuple": literal,
}
