"""What names, attributes and calls stand for, across files: scopes, imports, inheritance, hints, simple assignments.

Nothing is executed. What cannot be told stays unknown; a loop of definitions that need each other does as well.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

from tree_sitter import Node

from mattools_assets.source.classes import OUTSIDE_BASE, linearise
from mattools_assets.source.expressions import expression_values
from mattools_assets.source.hints import described_values
from mattools_assets.source.lookup import enclosing_class, is_private, lookup, visible
from mattools_assets.source.modules import Modules
from mattools_assets.source.scopes import Access, Binding, Bound, FileNames, Scope, ScopeKind
from mattools_assets.source.tree import CodeObject, Kind, parts_of
from mattools_assets.source.values import (
    COPIES,
    OUTSIDE,
    UNKNOWN,
    Class,
    ContainerMethod,
    External,
    Function,
    Instance,
    Items,
    Mapping,
    Module,
    Parts,
    Value,
    Values,
    call_container_method,
    items_of,
    received,
    union,
)

MAX_DEPTH = 60
MAX_RETURNS = 8
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})
_BUILTINS = frozenset(dir(builtins))


class Inference:
    """Answers for one source. `objects` is the tree's list; `files` are in the order that `modules` knows them in."""

    def __init__(self, objects: Sequence[CodeObject], files: Sequence[FileNames], modules: Modules) -> None:
        self.objects = objects
        self.files = files
        self.modules = modules
        self.scopes = {scope.object: scope for file in files for scope in file.scopes}
        self._nodes: dict[int, Values] = {}
        self._hints: dict[tuple[int, int], Values] = {}
        self._bindings: dict[int, Values] = {}
        self._members: dict[tuple[int, str, Access], Values | None] = {}
        self._results: dict[tuple[int, int], Values] = {}
        self._orders: dict[int, tuple[int, ...]] = {}
        self._module_members: dict[tuple[str, str], Values] = {}
        self._depth = 0

    def name_values(self, name: str, scope: Scope, at: int) -> Values:
        """What `name` stands for at that place."""
        bindings = lookup(name, scope, at)
        if bindings:
            return union(*[self.binding_values(binding) for binding in bindings])
        return (External(name),) if name in _BUILTINS else UNKNOWN

    def binding_values(self, binding: Binding) -> Values:
        """What a binding gives its name."""
        if binding.how is Bound.DEFINITION:
            is_class = self.objects[binding.target].kind is Kind.CLASS
            return (Class(binding.target) if is_class else Function(binding.target),)
        if binding.how is Bound.SELF:
            return (Instance(binding.target, is_own=True),)
        if binding.how is Bound.CLS:
            return (Class(binding.target, is_own=True),)
        return self._remember(self._bindings, id(binding), lambda: self._binding_values(binding))

    def _binding_values(self, binding: Binding) -> Values:
        node, scope = binding.node, binding.scope
        match binding.how:
            case Bound.IMPORT:
                if binding.module is None:
                    return (External(binding.member or ""),)
                if binding.member is None:
                    return (Module(binding.module),)
                return self.module_member(binding.module, binding.member)
            case Bound.VALUE if node is not None:
                values = self.values_of(node, scope)
            case Bound.HINT if node is not None:
                values = self.hint_values(node, scope)
            case Bound.ITEM if node is not None:
                values = self.items(self.values_of(node, scope))
            case Bound.ENTERED if node is not None:
                values = self._entered(self.values_of(node, scope))
            case _:
                return UNKNOWN
        for position in binding.unpacked:
            values = self.part(values, position)
        return values

    def _entered(self, values: Values) -> Values:
        """What `with` gives its name: for an instance, what its `__enter__` returns when that is in the source."""
        found: list[Values] = []
        for value in values:
            entered = None
            if isinstance(value, Instance):
                entered = self.class_member(value.index, "__enter__") or self.class_member(value.index, "__aenter__")
            if entered is not None and entered != OUTSIDE:
                found.append(union(*[self.result(member) for member in entered]))
            else:
                found.append(value.values if isinstance(value, Items) else (value,))
        return union(*found)

    def part(self, values: Values, position: int) -> Values:
        """What stands at that place of a tuple, from the end when it is negative; of others, any item."""
        found: list[Values] = []
        for value in values:
            if isinstance(value, Parts):
                places = range(-len(value.values), len(value.values))
                found.append(value.values[position] if position in places else UNKNOWN)
            else:
                found.append(self.items((value,)))
        return union(*found)

    def _remember(self, memory: dict, key: object, work: Callable[[], Values]) -> Values:
        """The remembered answer; unknown while it is being worked out, and beyond a depth."""
        known = memory.get(key)
        if known is not None:
            return known
        if self._depth >= MAX_DEPTH:
            return UNKNOWN
        memory[key] = UNKNOWN
        self._depth += 1
        try:
            memory[key] = values = work()
        finally:
            self._depth -= 1
        return values

    def module_member(self, module: str, name: str) -> Values:
        """What `from module import name` gives."""
        found = self._remember(self._module_members, (module, name), lambda: self._module_member(module, name))
        if not found and self.modules.exists(f"{module}.{name}"):
            return (Module(f"{module}.{name}"),)
        return found

    def _module_member(self, module: str, name: str) -> Values:
        place = self.modules.files.get(module)
        if place is None:
            return UNKNOWN
        scope = self.files[place].scopes[0]
        found = scope.bindings.get(name)
        return union(*[self.binding_values(binding) for binding in visible(found, scope.span[1])]) if found else UNKNOWN

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
        scope = self.scopes.get(index)
        bases: list[int] = []
        if scope is None or scope.parent is None:
            return bases
        for node in scope.bases:
            classes = [v.index for v in self.values_of(node, scope.parent) if isinstance(v, Class) and v.index != index]
            bases += [base for base in classes[:1] or [OUTSIDE_BASE] if base not in bases]
        return bases

    def class_member(
        self, index: int, name: str, access: Access = Access.READ, after: int | None = None
    ) -> Values | None:
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
        found = self._own_member(ancestors[0], name, access)
        if found is None or name in self.scopes[ancestors[0]].bindings:
            return found
        first: Values | None = None
        for ancestor in ancestors[1:]:
            if ancestor in self.scopes and name in self.scopes[ancestor].bindings:
                first = first or self._own_member(ancestor, name, access)
                known = self._own_member(ancestor, name, Access.READ)
                if known is not None:
                    return first if any(map(self.is_property, known)) else found
        return found

    def plain_attributes(self) -> set[str]:
        """Names that classes of the source give to attributes which are no functions or classes."""
        names: set[str] = set()
        for scope in self.scopes.values():
            if scope.kind is ScopeKind.CLASS:
                names.update(scope.attributes)
                names.update(
                    name
                    for name, bindings in scope.bindings.items()
                    if any(binding.how is not Bound.DEFINITION for binding in bindings)
                )
        return names

    def _own_member(self, index: int, name: str, access: Access) -> Values | None:
        key = (index, name, access)
        if key not in self._members:
            self._members[key] = UNKNOWN
            self._members[key] = self._find_own_member(index, name, access)
        return self._members[key]

    def _find_own_member(self, index: int, name: str, access: Access) -> Values | None:
        scope = self.scopes.get(index)
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
            return union(*[self.binding_values(binding) for binding in declared])
        assigned = scope.attributes.get(name, [])
        if not declared and not assigned:
            return None
        return union(*[self.binding_values(binding) for binding in (*declared, *assigned)])

    def _is_enumeration(self, index: int) -> bool:
        """True for a class with one of the standard library's enumerations among its ancestors."""
        scopes = [self.scopes[ancestor] for ancestor in self.order(index) if ancestor in self.scopes]
        return any(_text(base, scope).rpartition(".")[2] in _ENUMERATIONS for scope in scopes for base in scope.bases)

    def _metaclass_member(self, index: int, name: str, access: Access) -> Values | None:
        for ancestor in self.order(index):
            scope = self.scopes.get(ancestor)
            if scope is not None and scope.parent is not None and scope.metaclass is not None:
                for value in self.values_of(scope.metaclass, scope.parent):
                    return self.class_member(value.index, name, access) if isinstance(value, Class) else None
        return None

    def members(self, value: Value, name: str, access: Access = Access.READ) -> Values | None:
        """The attribute `name` of `value` as it is written, a property being its function; None when there is none."""
        match value:
            case Module(name=module):
                return self.module_member(module, name) or None
            case Class(index=index):
                found = self.class_member(index, name, access)
                return self._metaclass_member(index, name, access) if found is None else found
            case Instance(index=index, is_own=is_own):
                return (Class(index, is_own),) if name == "__class__" else self.class_member(index, name, access)
            case Items() | Parts() | Mapping():
                return (ContainerMethod(value, name),)
            case External():
                return (External(name if name in COPIES else ""),)
        return OUTSIDE

    def receivers(self, node: Node, scope: Scope) -> tuple[Values, int | None]:
        """What stands before the dot, and for `super()` the class whose bases are meant."""
        if node.type == "call":
            function = node.child_by_field_name("function")
            if function is not None and function.type == "identifier" and _text(function, scope) == "super":
                return self._super(parts_of(node.child_by_field_name("arguments") or node), scope)
        return self.values_of(node, scope), None

    def _super(self, arguments: Sequence[Node], scope: Scope) -> tuple[Values, int | None]:
        owner = enclosing_class(scope)
        if not arguments:
            return ((Instance(owner),), owner) if owner is not None else (UNKNOWN, None)
        after = next((v.index for v in self.values_of(arguments[0], scope) if isinstance(v, Class)), None)
        if after is None:
            return UNKNOWN, None
        given = self.values_of(arguments[1], scope) if len(arguments) > 1 else UNKNOWN
        return (Instance(next((v.index for v in given if isinstance(v, Class | Instance)), after)),), after

    def attribute_values(self, node: Node, scope: Scope, access: Access = Access.READ) -> tuple[Values, Values]:
        """Receivers and raw members of an attribute node."""
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if receiver is None or name is None:
            return UNKNOWN, UNKNOWN
        text = _text(name, scope)
        owners, after = self.receivers(receiver, scope)
        if after is not None:
            found = [self.class_member(v.index, text, access, after=after) for v in owners if isinstance(v, Instance)]
        else:
            found = [self._member_from(owner, text, access, scope) for owner in owners]
        return owners, union(*[values or UNKNOWN for values in found])

    def _member_from(self, value: Value, name: str, access: Access, scope: Scope) -> Values | None:
        """The attribute as the code in `scope` reaches it: private names and submodules differ from place to place."""
        if isinstance(value, Class | Instance) and is_private(name):
            own = enclosing_class(scope)
            return self._own_member(own, name, access) if own is not None and own in self.order(value.index) else None
        if isinstance(value, Module) and f"{value.name}.{name}" in scope.file.submodules:
            return (Module(f"{value.name}.{name}"),)
        return self.members(value, name, access)

    def read(self, owners: Values, raw: Values) -> Values:
        """The values that reading gives: a property of an instance is what its function returns."""
        on_instance = any(isinstance(owner, Instance) for owner in owners)
        return union(*[self.result(value) if on_instance and self.is_property(value) else (value,) for value in raw])

    def is_property(self, value: Value) -> bool:
        """True for a function that reading the attribute calls."""
        if not isinstance(value, Function):
            return False
        return any("property" in text.rpartition(".")[2] for text in self.objects[value.index].decorators)

    def values_of(self, node: Node, scope: Scope) -> Values:
        """What an expression evaluates to."""
        return self._remember(self._nodes, node.id, lambda: expression_values(self, node, scope))

    def result(self, callee: Value) -> Values:
        """What a call of `callee` gives."""
        match callee:
            case Class(index=index, is_own=is_own):
                return (Instance(index, is_own),)
            case Function(index=index, receiver=receiver):
                return self._remember(self._results, (index, receiver), lambda: self._result(index, receiver))
            case Instance(index=index):
                return union(*[self.result(value) for value in self.class_member(index, "__call__") or UNKNOWN])
            case ContainerMethod():
                return call_container_method(callee)
            case External():
                return OUTSIDE
        return UNKNOWN

    def _result(self, index: int, receiver: int) -> Values:
        scope = self.scopes.get(index)
        if scope is None or scope.parent is None:
            return UNKNOWN
        if scope.return_hint is not None:
            hinted = self.hint_values(scope.return_hint, scope.parent, receiver)
            if hinted:
                return hinted
        given = scope.yields or scope.returns
        values = union(*[self.values_of(node, scope) for node in given[:MAX_RETURNS]])
        values = received(values, self.objects[index].parent, receiver)
        return (Items(values),) if scope.yields else values

    def items(self, values: Values) -> Values:
        """What iterating over `values` gives, by `__iter__` or `__getitem__` for instances."""
        found = [items_of(values)]
        for value in values:
            if isinstance(value, Instance):
                iterators = union(*[self.result(v) for v in self.class_member(value.index, "__iter__") or UNKNOWN])
                found.append(items_of(iterators) or self.getitem(value))
        return union(*found)

    def getitem(self, value: Instance) -> Values:
        return union(*[self.result(member) for member in self.class_member(value.index, "__getitem__") or UNKNOWN])

    def hint_values(self, node: Node, scope: Scope, receiver: int = -1) -> Values:
        """What a value with this type hint is; `receiver` is the class that `Self` means."""
        return self._remember(self._hints, (node.id, receiver), lambda: described_values(self, node, scope, receiver))


def _text(node: Node, scope: Scope) -> str:
    return scope.file.text(node)
