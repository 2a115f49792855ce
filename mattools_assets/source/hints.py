"""What a value is by its type hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from mattools_assets.source.lookup import enclosing_class, lookup
from mattools_assets.source.scopes import Binding, Bound, Scope
from mattools_assets.source.tree import parts_of
from mattools_assets.source.values import (
    OUTSIDE,
    UNKNOWN,
    Class,
    External,
    Instance,
    Items,
    Mapping,
    Parts,
    Values,
    union,
)

if TYPE_CHECKING:
    from mattools_assets.source.inference import Inference


_TRANSPARENT = frozenset(
    {
        "Optional",
        "Union",
        "Annotated",
        "Final",
        "ClassVar",
        "Required",
        "NotRequired",
        "ReadOnly",
        "Awaitable",
        "Coroutine",
    }
)
_ITEMS = frozenset(
    {
        "list",
        "List",
        "set",
        "Set",
        "frozenset",
        "FrozenSet",
        "deque",
        "Deque",
        "Sequence",
        "MutableSequence",
        "Iterable",
        "Iterator",
        "Generator",
        "Collection",
        "AbstractSet",
        "AsyncIterator",
        "AsyncIterable",
        "AsyncGenerator",
        "Container",
        "Reversible",
    }
)
_MAPPINGS = frozenset(
    {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict", "Counter"}
)
_OTHERS = frozenset({"tuple", "Tuple", "type", "Type", "Callable", "Literal"})


def described_values(inference: Inference, node: Node, scope: Scope, receiver: int) -> Values:
    kind, children = node.type, parts_of(node)
    if kind in ("identifier", "attribute", "dotted_name"):
        return _plain_hint(inference, node, scope, receiver)
    if kind in ("type", "parenthesized_expression", "module", "expression_statement") and children:
        return inference.hint_values(children[0], scope, receiver)
    if kind in ("binary_operator", "tuple", "union_type"):
        return union(*[inference.hint_values(child, scope, receiver) for child in children])
    if kind == "string":
        quoted = scope.file.quoted_hints.get(node.id)
        return inference.hint_values(quoted, scope, receiver) if quoted is not None else UNKNOWN
    if kind in ("subscript", "generic_type"):
        inner = children[1:]
        if kind == "generic_type" and inner and inner[0].type == "type_parameter":
            inner = parts_of(inner[0])
        name = _text(children[0], scope).rpartition(".")[2]
        if name in ("tuple", "Tuple") and _text(inner[-1], scope) == "...":
            name = "Sequence"
        if _is_container(name):
            return _wrap(name, [inference.hint_values(child, scope, receiver) for child in inner])
        return inference.hint_values(children[0], scope, receiver)
    return UNKNOWN


def _plain_hint(inference: Inference, node: Node, scope: Scope, receiver: int) -> Values:
    text = _text(node, scope).rpartition(".")[2]
    if text == "Self":
        owner = receiver if receiver >= 0 else enclosing_class(scope)
        return (Instance(owner),) if owner is not None else UNKNOWN
    found: list[Values] = []
    for value in inference.values_of(node, scope):
        if isinstance(value, Class):
            found.append((Instance(value.index),))
        elif isinstance(value, External):
            found.append(UNKNOWN if text in ("Any", "object") else OUTSIDE)
    if node.type == "identifier":
        for binding in lookup(text, scope, node.start_byte):
            found.append(_alias_hint(inference, binding))
    return union(*found)


def _alias_hint(inference: Inference, binding: Binding) -> Values:
    """A hint through a name that was assigned a type, such as `Site = Union[...]`, here or where it is imported."""
    if binding.how is Bound.IMPORT and binding.module is not None and binding.member is not None:
        place = inference.modules.files.get(binding.module)
        scope = inference.files[place].scopes[0] if place is not None else None
        found = scope.bindings.get(binding.member, []) if scope is not None else []
        return union(*[_alias_hint(inference, other) for other in found if other.how is Bound.VALUE])
    is_alias = binding.how is Bound.VALUE and binding.node is not None and binding.node.type != "call"
    return inference.hint_values(binding.node, binding.scope) if is_alias and binding.node is not None else UNKNOWN


def _is_container(name: str) -> bool:
    """True for the generic types of the standard library whose arguments say what is inside."""
    return name in _TRANSPARENT or name in _ITEMS or name in _MAPPINGS or name in _OTHERS


def _wrap(name: str, inner: list[Values]) -> Values:
    """The value that a hint such as `list[X]` describes; `inner` are the values of its arguments."""
    if not inner:
        return OUTSIDE
    if name in ("Awaitable", "Coroutine", "Annotated"):
        return inner[-1] if name != "Annotated" else inner[0]
    if name in _TRANSPARENT:
        return union(*inner)
    if name in _ITEMS:
        return (Items(inner[0]),)
    if name in _MAPPINGS:
        return (Mapping(inner[0], inner[-1]),)
    if name in ("tuple", "Tuple"):
        return (Parts(tuple(inner)),)
    if name in ("type", "Type"):
        return tuple(Class(value.index) if isinstance(value, Instance) else External() for value in inner[0])
    return OUTSIDE


def _text(node: Node, scope: Scope) -> str:
    return scope.file.text(node)
