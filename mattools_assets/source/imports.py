"""Import statements."""

from __future__ import annotations

from tree_sitter import Node

from mattools_assets.source.mentions import ignore
from mattools_assets.source.scopes import Binding, Bound, Mention, Role
from mattools_assets.source.walk import Handler, NameWalk, Place


def import_statement(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    for child in node.named_children:
        alias = child.child_by_field_name("alias")
        full = walk.names.text(child.child_by_field_name("name") or child)
        module = full if alias is not None else full.partition(".")[0]
        found = walk.modules.absolute(walk.names.place, 0, module)
        binding = Binding(Bound.IMPORT, node.end_byte, place.block, place.scope, module=found)
        if found is not None and module != full:
            parts = (found + full.removeprefix(module)).split(".")
            walk.names.submodules.update(".".join(parts[:count]) for count in range(2, len(parts) + 1))
        place.scope.bind(walk.names.text(alias) if alias is not None else module, binding)


def import_from(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    source = node.child_by_field_name("module_name")
    if source is None:
        return
    text = "".join(walk.names.text(source).split())
    path = text.lstrip(".")
    module = walk.modules.absolute(walk.names.place, len(text) - len(path), path)
    if any(child.type == "wildcard_import" for child in node.named_children):
        star = Binding(Bound.IMPORT, node.end_byte, place.block, place.scope, module=module)
        place.scope.star_imports.append(star)
    for child in node.children_by_field_name("name"):
        member = child.child_by_field_name("name") or child
        alias = child.child_by_field_name("alias") or member
        name = walk.names.text(member)
        binding = Binding(Bound.IMPORT, node.end_byte, place.block, place.scope, module=module, member=name)
        place.scope.bind(walk.names.text(alias), binding)
        if name in walk.wanted:
            mention = Mention(member, name, place.scope, place.owner, Role.IMPORT, binding=binding)
            walk.names.mentions.append(mention)


HANDLERS: dict[str, Handler] = {
    "import_statement": import_statement,
    "import_from_statement": import_from,
    "future_import_statement": ignore,
}
