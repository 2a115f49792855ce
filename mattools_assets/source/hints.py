"""Type hints that are containers."""

from __future__ import annotations

from mattools_assets.source.values import OUTSIDE, Class, External, Instance, Items, Mapping, Parts, Values, union

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


def is_container_hint(name: str) -> bool:
    """True for the generic types of the standard library whose arguments say what is inside."""
    return name in _TRANSPARENT or name in _ITEMS or name in _MAPPINGS or name in _OTHERS


def wrap_container(name: str, inner: list[Values]) -> Values:
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
