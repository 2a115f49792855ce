"""Members of classes: which class an attribute is found in, over bases, metaclasses and what is set on instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mattools_assets.source.classes import OUTSIDE_BASE, linearise
from mattools_assets.source.lookup import visible
from mattools_assets.source.scopes import Access, Bound, Scope, ScopeKind
from mattools_assets.source.values import OUTSIDE, UNKNOWN, Class, Function, Instance, Value, Values, union

if TYPE_CHECKING:
    from mattools_assets.source.inference import Inference

_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})


class ClassMembers:
    """Answers about the classes of one source. `scopes` are the bodies of all objects by index."""

    def __init__(self, inference: Inference, scopes: Mapping[int, Scope]) -> None:
        self._inference = inference
        self._scopes = scopes
        self._own: dict[tuple[int, str, Access], Values | None] = {}
        self._orders: dict[int, tuple[int, ...]] = {}

    def order(self, index: int) -> tuple[int, ...]:
        """Method resolution order of a class, itself first. Works its way up without recursion."""
        waiting = [] if index in self._orders else [(index, self._bases(index))]
        self._orders.setdefault(index, (index,))  # for a class that is its own ancestor
        while waiting:
            current, bases = waiting[-1]
            missing = next((base for base in bases if base != OUTSIDE_BASE and base not in self._orders), None)
            if missing is None:
                self._orders[current] = linearise(current, bases, self._orders.__getitem__)
                waiting.pop()
            else:
                self._orders[missing] = (missing,)
                waiting.append((missing, self._bases(missing)))
        return self._orders[index]

    def _bases(self, index: int) -> list[int]:
        scope = self._scopes.get(index)
        bases: list[int] = []
        if scope is None or scope.parent is None:
            return bases
        for node in scope.bases:
            values = self._inference.values_of(node, scope.parent)
            classes = [value.index for value in values if isinstance(value, Class) and value.index != index]
            bases += [base for base in classes[:1] or [OUTSIDE_BASE] if base not in bases]
        return bases

    def member(self, index: int, name: str, access: Access = Access.READ, after: int | None = None) -> Values | None:
        """The attribute `name` of a class or its instances, from the first class in the order that has one.

        None when no class has it. `after` starts behind that class, as `super()` does.
        """
        order = self.order(index)
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else ()
        for place, ancestor in enumerate(order):
            if ancestor == OUTSIDE_BASE:
                return OUTSIDE
            found = self._member_at(order[place:], name, access)
            if found is not None:
                return tuple(Function(v.index, index) if isinstance(v, Function) else v for v in found)
        return None

    def is_plain(self, owner: Value, name: str) -> bool | None:
        """Whether the attribute of an instance is no function or class, but assigned or annotated; None: not known."""
        order = self.order(owner.index) if isinstance(owner, Instance) else ()
        for place, ancestor in enumerate(order):
            found = self._member_at(order[place:], name, Access.READ) if ancestor != OUTSIDE_BASE else None
            if found is not None:
                return not any(isinstance(value, Function | Class) for value in found)
        return None

    def _member_at(self, ancestors: Sequence[int], name: str, access: Access) -> Values | None:
        """The attribute of the first of these; one only set on instances is taken by a property further up."""
        found = self.own(ancestors[0], name, access)
        if found is None or name in self._scopes[ancestors[0]].bindings:
            return found
        first: Values | None = None
        for ancestor in ancestors[1:]:
            if ancestor in self._scopes and name in self._scopes[ancestor].bindings:
                first = first or self.own(ancestor, name, access)
                known = self.own(ancestor, name, Access.READ)
                if known is not None:
                    return first if any(map(self._inference.is_property, known)) else found
        return found

    def plain_attributes(self) -> set[str]:
        """Names that classes of the source give to attributes which are no functions or classes."""
        names: set[str] = set()
        for scope in self._scopes.values():
            if scope.kind is ScopeKind.CLASS:
                names.update(scope.attributes)
                names.update(
                    name
                    for name, bindings in scope.bindings.items()
                    if any(binding.how is not Bound.DEFINITION for binding in bindings)
                )
        return names

    def own(self, index: int, name: str, access: Access) -> Values | None:
        """The attribute `name` that the class itself has, whatever its bases; None when it has none."""
        key = (index, name, access)
        if key not in self._own:
            self._own[key] = UNKNOWN
            self._own[key] = self._find_own(index, name, access)
        return self._own[key]

    def _find_own(self, index: int, name: str, access: Access) -> Values | None:
        scope = self._scopes.get(index)
        if scope is None:
            return None
        declared = scope.bindings.get(name, [])
        if any(binding.access is not Access.READ for binding in declared):
            wanted = [binding for binding in declared if binding.access is access]
            readers = [binding for binding in declared if binding.access is Access.READ]
            if not wanted and access is Access.READ:
                return None  # the setter of an inherited property
            declared = wanted[-1:] or readers or declared
        declared = visible(declared, scope.span[1]) if declared else []
        if declared and declared[0].how is Bound.VALUE and not name.startswith("_") and self._is_enumeration(index):
            return (Instance(index),)
        if any(binding.how in (Bound.DEFINITION, Bound.HINT) for binding in declared):
            return union(*[self._inference.binding_values(binding) for binding in declared])
        assigned = scope.attributes.get(name, [])
        if not declared and not assigned:
            return None
        return union(*[self._inference.binding_values(binding) for binding in (*declared, *assigned)])

    def _is_enumeration(self, index: int) -> bool:
        """True for a class with one of the standard library's enumerations among its ancestors."""
        scopes = [self._scopes[ancestor] for ancestor in self.order(index) if ancestor in self._scopes]
        return any(
            scope.file.text(base).rpartition(".")[2] in _ENUMERATIONS for scope in scopes for base in scope.bases
        )

    def of_metaclass(self, index: int, name: str, access: Access) -> Values | None:
        """The attribute `name` that a class has by its metaclass; None when it has none."""
        for ancestor in self.order(index):
            scope = self._scopes.get(ancestor)
            if scope is not None and scope.parent is not None and scope.metaclass is not None:
                for value in self._inference.values_of(scope.metaclass, scope.parent):
                    return self.member(value.index, name, access) if isinstance(value, Class) else None
        return None
