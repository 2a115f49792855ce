"""Statements that give a name a value: assignments, loops, `with`, `except`, comprehensions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from mattools_assets.source.mentions import attribute
from mattools_assets.source.scopes import Access, Binding, Bound, Role, Scope, ScopeKind
from mattools_assets.source.tree import parts_of
from mattools_assets.source.walk import Handler, NameWalk, Place


def bind_target(walk: NameWalk, target: Node, binding: Binding, place: Place) -> None:
    """Binds a name, an attribute of the first parameter, or each part of a tuple."""
    targets = [(target, binding)]
    while targets:
        target, binding = targets.pop()
        kind = target.type
        if kind == "identifier":
            place.scope.bind(walk.names.text(target), binding)
        elif kind == "attribute":
            _bind_attribute(walk, target, binding, place)
            attribute(walk, target, place, Role.USE, Access.WRITE)
        elif kind == "parenthesized_expression":
            targets += [(part, binding) for part in parts_of(target)]
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple"):
            targets += [
                (part, replace(binding, unpacked=(*binding.unpacked, position)))
                for position, part in _positions(target)
            ]
        elif kind == "list_splat_pattern":
            targets += [(part, replace(binding, how=Bound.OPAQUE)) for part in parts_of(target)]
        else:
            walk.push(target, place)


def _positions(target: Node) -> Iterator[tuple[int, Node]]:
    """The parts of a tuple with their places, which are counted from the end behind a star."""
    parts = parts_of(target)
    behind = next((n for n, part in enumerate(parts) if part.type == "list_splat_pattern"), len(parts))
    for n, part in enumerate(parts):
        yield (n if n <= behind else n - len(parts)), part


def _bind_attribute(walk: NameWalk, target: Node, binding: Binding, place: Place) -> None:
    receiver = target.child_by_field_name("object")
    name = target.child_by_field_name("attribute")
    scope: Scope | None = place.scope
    while scope is not None and (scope.kind is not ScopeKind.FUNCTION or scope.first_parameter is None):
        scope = scope.parent
    if scope is None or scope.parent is None or receiver is None or name is None:
        return
    if receiver.type == "identifier" and walk.names.text(receiver) == scope.first_parameter:
        scope.parent.attributes.setdefault(walk.names.text(name), []).append(binding)


def assignment(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    left = node.child_by_field_name("left")
    hint = node.child_by_field_name("type")
    right = node.child_by_field_name("right")
    walk.push(right, place)
    walk.push(hint, place, Role.HINT)
    is_hint = hint is not None and not walk.names.text(hint).endswith("TypeAlias")
    known = hint if is_hint else right
    if left is not None and known is not None:
        how = Bound.HINT if is_hint else Bound.VALUE
        bind_target(walk, left, Binding(how, node.end_byte, place.block, place.scope, known), place)


def augmented_assignment(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    """Reads and writes what stands on its left; a name keeps the kind of value that it had."""
    left = node.child_by_field_name("left")
    walk.push_children(node, place, role)
    if left is not None and left.type == "identifier":
        binding = Binding(Bound.VALUE, node.end_byte, place.block, place.scope, left)
        place.scope.bind(walk.names.text(left), binding)
    name = left.child_by_field_name("attribute") if left is not None else None
    if left is not None and name is not None:
        walk.mention(left, walk.names.text(name), place, Role.USE, Access.WRITE)


def delete_statement(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    for child in parts_of(node):
        for target in parts_of(child) if child.type == "expression_list" else [child]:
            if target.type == "attribute":
                attribute(walk, target, place, role, Access.DELETE)
            else:
                walk.push(target, place, role)


def named_expression(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    walk.push(value, place)
    around = place.scope
    while around.kind is ScopeKind.COMPREHENSION and around.parent is not None:
        around = around.parent
    if name is not None:
        around.bind(walk.names.text(name), Binding(Bound.VALUE, node.start_byte, place.block, place.scope, value))


def type_alias(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    walk.push(right, place, Role.HINT)
    if left is not None and left.named_children:
        binding = Binding(Bound.VALUE, node.end_byte, place.block, place.scope, right)
        bind_target(walk, left.named_children[0], binding, place)


def for_statement(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    walk.push(node.child_by_field_name("alternative"), place)
    walk.push(node.child_by_field_name("body"), place)
    walk.push(right, place)
    if left is not None and right is not None:
        bind_target(walk, left, Binding(Bound.ITEM, right.end_byte, place.block, place.scope, right), place)


def comprehension(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    """Everything is looked up in a scope of its own, except what the first `for` goes through."""
    inside = walk.open_inside(ScopeKind.COMPREHENSION, node, place)
    pushed = []
    around = place
    for clause in node.named_children:
        if clause.type == "for_in_clause":
            left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
            if left is not None and right is not None:
                span = inside.scope.span
                bind_target(walk, left, Binding(Bound.ITEM, span[0], span, around.scope, right), inside)
                pushed.append((right, around))
            around = inside
        else:
            pushed.append((clause, inside))
    for part, where in reversed(pushed):
        walk.push(part, where)


def with_statement(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    body = node.child_by_field_name("body")
    if body is not None:  # no block of its own: it always runs
        walk.push_children(body, place)
    for child in node.named_children:
        if child.type == "with_clause":
            walk.push(child, place)


def as_pattern(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    value, target = node.named_children[0], node.child_by_field_name("alias")
    # An `except*` gives a group, which comes from outside as what is imported from another package does.
    how = {Role.INHERIT: Bound.HINT, Role.IMPORT: Bound.IMPORT}.get(role, Bound.ENTERED)
    walk.push(value, place)
    if target is not None and target.named_children:
        binding = Binding(how, node.end_byte, place.block, place.scope, value)
        bind_target(walk, target.named_children[0], binding, place)


def except_clause(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    # INHERIT marks the one place where `as` gives an instance of the class before it; `except*` gives a group of them.
    role = Role.IMPORT if any(child.type in ("*", "except*") for child in node.children) else Role.INHERIT
    for child in reversed(node.named_children):
        walk.push(child, place, role if child.type == "as_pattern" else Role.USE)


def global_statement(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    module = place.scope
    while module.parent is not None:
        module = module.parent
    names = [walk.names.text(child) for child in node.named_children]
    place.scope.elsewhere = {**(place.scope.elsewhere or {}), **dict.fromkeys(names, module)}


def nonlocal_statement(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    for child in node.named_children:
        name, scope = walk.names.text(child), place.scope.parent
        while scope is not None and name not in scope.bindings:
            scope = scope.parent
        if scope is not None:
            place.scope.elsewhere = {**(place.scope.elsewhere or {}), name: scope}


HANDLERS: dict[str, Handler] = {
    "assignment": assignment,
    "augmented_assignment": augmented_assignment,
    "delete_statement": delete_statement,
    "named_expression": named_expression,
    "type_alias_statement": type_alias,
    "for_statement": for_statement,
    "list_comprehension": comprehension,
    "set_comprehension": comprehension,
    "dictionary_comprehension": comprehension,
    "generator_expression": comprehension,
    "with_statement": with_statement,
    "as_pattern": as_pattern,
    "except_clause": except_clause,
    "global_statement": global_statement,
    "nonlocal_statement": nonlocal_statement,
}
