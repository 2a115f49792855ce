"""Blocks of statements, and what a condition says of types inside them."""

from __future__ import annotations

from dataclasses import replace

from tree_sitter import Node

from mattools_assets.source.scopes import Binding, Bound, Role
from mattools_assets.source.tree import parts_of
from mattools_assets.source.walk import Handler, NameWalk, Place


def block(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    walk.push_children(node, Place(place.scope, place.owner, (node.start_byte, node.end_byte)), role)


def condition(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    test, consequence = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    if test is not None and consequence is not None:
        span = (consequence.start_byte, consequence.end_byte)
        _narrow(walk, test, Binding(Bound.OPAQUE, span[0], span, place.scope, only_in_block=True), place)
    walk.push_children(node, place, role)


def assertion(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    if node.named_children:
        opaque = Binding(Bound.OPAQUE, node.end_byte, place.block, place.scope)
        _narrow(walk, node.named_children[0], opaque, place)
    walk.push_children(node, place, role)


def _narrow(walk: NameWalk, test: Node, binding: Binding, place: Place) -> None:
    """Binds `x` to an instance of `X` where `isinstance(x, X)`, alone or joined by `and`, holds."""
    tests = [test]
    while tests:
        test = tests.pop()
        if test.type == "boolean_operator" and any(child.type == "and" for child in test.children):
            tests += test.named_children
        function, arguments = test.child_by_field_name("function"), test.child_by_field_name("arguments")
        if function is None or arguments is None or walk.names.text(function) != "isinstance":
            continue
        given = parts_of(arguments)
        if len(given) == 2 and given[0].type == "identifier":
            block = (test.end_byte, binding.block[1]) if binding.only_in_block else binding.block
            start = test.end_byte if binding.only_in_block else binding.start
            place.scope.bind(
                walk.names.text(given[0]), replace(binding, how=Bound.HINT, node=given[1], start=start, block=block)
            )


HANDLERS: dict[str, Handler] = {
    "block": block,
    "if_statement": condition,
    "elif_clause": condition,
    "assert_statement": assertion,
}
