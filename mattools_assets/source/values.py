"""What an expression can stand for, as far as names and types tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Module:
    """A module or package of the source."""

    name: str


@dataclass(frozen=True, slots=True)
class Class:
    """The class that is object `index` of the tree; `is_own` when it is that of a method's own first parameter."""

    index: int
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """The function that is object `index`; `receiver` is the class it was reached through, -1 for none."""

    index: int
    receiver: int = -1


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of the class `index`; `is_own` when its class is that of a method's own first parameter."""

    index: int
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list, set, iterator or the like of these values."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple with known places."""

    values: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dictionary or the like."""

    keys: tuple[Value, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ContainerMethod:
    """A method of a container, such as `values` of a dictionary."""

    owner: Items | Parts | Mapping
    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something from outside the source: a builtin, a literal, another package. Its attributes are external too.

    `name` is kept for builtins and functions whose result depends on their arguments.
    """

    name: str = ""


Value = Module | Class | Function | Instance | Items | Parts | Mapping | ContainerMethod | External
Values = tuple[Value, ...]
COPIES = frozenset({"copy", "deepcopy"})
"""Functions that give back what they are given."""
UNKNOWN: Values = ()
OUTSIDE: Values = (External(),)


def union(*groups: Values) -> Values:
    """All values once, in order."""
    first, *rest = [group for group in groups if group] or [UNKNOWN]
    return tuple(dict.fromkeys(value for group in (first, *rest) for value in group)) if rest else first


def received(values: Values, owner: int | None, receiver: int) -> Values:
    """What a method of the class `owner` gives when it is reached through `receiver`: its own class is that one."""

    def adapted(value: Value) -> Value:
        match value:
            case Class(index=index, is_own=True) | Instance(index=index, is_own=True):
                return type(value)(receiver if index == owner and receiver >= 0 else index)
            case Items(values=inner):
                return Items(received(inner, owner, receiver))
            case Parts(values=parts):
                return Parts(tuple(received(part, owner, receiver) for part in parts))
        return value

    return tuple(dict.fromkeys(adapted(value) for value in values))


def items_of(values: Values) -> Values:
    """What iterating over the containers among `values` gives."""
    found = []
    for value in values:
        match value:
            case Items(values=inner):
                found.append(inner)
            case Parts(values=parts):
                found += parts
            case Mapping(keys=keys):
                found.append(keys)
            case Class(index=index):  # iterating over a class: an enumeration
                found.append((Instance(index),))
            case External():
                found.append(OUTSIDE)
    return union(*found)


def call_container_method(method: ContainerMethod) -> Values:
    """What a call of the method gives, for the few methods that pass items on."""
    match method:
        case ContainerMethod(owner=Mapping(keys=keys, values=values), name=name):
            results: dict[str, Values] = {
                "keys": (Items(keys),),
                "values": (Items(values),),
                "items": (Items((Parts((keys, values)),)),),
                "copy": (method.owner,),
            }
            return results.get(name, values if name in ("get", "pop", "setdefault") else OUTSIDE)
        case ContainerMethod(owner=owner, name="pop"):
            return items_of((owner,))
        case ContainerMethod(owner=owner, name="copy"):
            return (owner,)
    return OUTSIDE
