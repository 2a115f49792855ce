"""What an expression evaluates to, by its syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from mattools_assets.source.scopes import Scope
from mattools_assets.source.tree import parts_of
from mattools_assets.source.values import (
    COPIES,
    OUTSIDE,
    UNKNOWN,
    Class,
    External,
    Instance,
    Items,
    Mapping,
    Parts,
    Values,
    items_of,
    union,
)

if TYPE_CHECKING:
    from mattools_assets.source.inference import Inference

MAX_ITEMS = 8
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SAME_ITEMS = frozenset({"list", "sorted", "set", "frozenset", "tuple", "reversed", "iter", "filter", "deque"})
_EXTERNAL_NODES = frozenset(
    {
        "string",
        "concatenated_string",
        "integer",
        "float",
        "true",
        "false",
        "ellipsis",
        "dictionary",
        "dictionary_comprehension",
        "lambda",
        "comparison_operator",
        "not_operator",
        "unary_operator",
    }
)


def expression_values(inference: Inference, node: Node, scope: Scope) -> Values:
    kind = node.type
    if kind == "identifier":
        return inference.name_values(_text(node, scope), scope, node.start_byte)
    if kind == "attribute":
        return inference.read(*inference.attribute_values(node, scope))
    if kind == "call":
        return _call(inference, node, scope)
    if kind in _EXTERNAL_NODES:
        return OUTSIDE
    children = parts_of(node)
    if kind == "subscript":
        return _subscript(inference, node, scope)
    if kind == "conditional_expression":
        return union(inference.values_of(children[0], scope), inference.values_of(children[-1], scope))
    if kind == "boolean_operator":
        return union(*[inference.values_of(child, scope) for child in children])
    if kind in ("parenthesized_expression", "await", "assignment", "named_expression", "type"):
        return inference.values_of(children[-1], scope) if len(children) <= 2 and children else UNKNOWN
    if kind == "dotted_name":
        return _dotted(inference, children, scope)
    if kind in ("list", "set"):
        return (Items(union(*[_element(inference, child, scope) for child in children[:MAX_ITEMS]])),)
    if kind == "list_splat" and children:  # the grammar reads `*x.y` as `(*x).y`
        return inference.values_of(children[0], scope)
    if kind in ("tuple", "expression_list"):
        return _tuple(inference, children, scope)
    if kind in ("list_comprehension", "set_comprehension", "generator_expression"):
        return (Items(inference.values_of(children[0], scope.file.inner_scopes.get(node.id, scope))),)
    return UNKNOWN


def _tuple(inference: Inference, children: Sequence[Node], scope: Scope) -> Values:
    """A tuple whose places are known, or one with a star in it, whose are not."""
    values = [_element(inference, child, scope) for child in children[:MAX_ITEMS]]
    if any(child.type == "list_splat" for child in children):
        return (Items(union(*values)),)
    return (Parts((*values, *[UNKNOWN] * (len(children) - len(values)))),)


def _dotted(inference: Inference, names: Sequence[Node], scope: Scope) -> Values:
    """Names joined by dots in a `match` pattern, which are no attributes to the grammar."""
    values = inference.values_of(names[0], scope)
    for name in names[1:]:
        members = [inference.members(value, _text(name, scope)) or UNKNOWN for value in values]
        values = inference.read(values, union(*members))
    return values


def _element(inference: Inference, node: Node, scope: Scope) -> Values:
    values = inference.values_of(node, scope)
    return inference.items(values) if node.type == "list_splat" else values


def _call(inference: Inference, node: Node, scope: Scope) -> Values:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return UNKNOWN
    callees = inference.values_of(function, scope)
    found: list[Values] = []
    for callee in callees:
        if isinstance(callee, External) and callee.name:
            found.append(_external_call(inference, callee.name, parts_of(arguments), scope))
        else:
            found.append(inference.result(callee))
    return union(*found)


def _external_call(inference: Inference, name: str, arguments: Sequence[Node], scope: Scope) -> Values:
    given = [inference.values_of(argument, scope) for argument in arguments[:3]]
    if not given:
        return OUTSIDE
    if name in COPIES:
        return given[0] or OUTSIDE
    if name == "type":
        return tuple(Class(value.index, value.is_own) for value in given[0] if isinstance(value, Instance)) or OUTSIDE
    if name == "super":
        return UNKNOWN
    if name in _SAME_ITEMS:
        return (Items(inference.items(given[0])),)
    if name in ("next", "min", "max"):
        return inference.items(given[0])
    if name == "enumerate":
        return (Items((Parts((OUTSIDE, inference.items(given[0]))),)),)
    if name == "zip":
        return (Items((Parts(tuple(inference.items(values) for values in given)),)),)
    return OUTSIDE


def _subscript(inference: Inference, node: Node, scope: Scope) -> Values:
    container, *keys = parts_of(node)
    found: list[Values] = []
    for value in inference.values_of(container, scope):
        match value:
            case Class() | External():
                found.append((value,))
            case Items() | Parts() if keys and keys[0].type == "slice":
                found.append((value,))
            case Parts() if keys and _WHOLE_NUMBER.fullmatch(_text(keys[0], scope)):
                found.append(inference.part((value,), int(_text(keys[0], scope))))
            case Mapping(values=inner):
                found.append(inner)
            case Instance():
                found.append(inference.getitem(value))
            case _:
                found.append(items_of((value,)))
    return union(*found)


def _text(node: Node, scope: Scope) -> str:
    return scope.file.text(node)
