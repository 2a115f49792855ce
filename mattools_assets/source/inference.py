"""What names, attributes and calls stand for, across files: scopes, imports, inheritance, hints, simple assignments.

Nothing is executed. What cannot be told stays unknown; a loop of definitions that need each other does as well.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

from tree_sitter import Node

from mattools_assets.source.expressions import expression_values
from mattools_assets.source.hints import described_values
from mattools_assets.source.lookup import enclosing_class, is_private, lookup, visible
from mattools_assets.source.members import ClassMembers
from mattools_assets.source.modules import Modules
from mattools_assets.source.scopes import Access, Binding, Bound, FileNames, Scope
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
_BUILTINS = frozenset(dir(builtins))


class Inference:
    """Answers for one source. `objects` is the tree's list; `files` are in the order that `modules` knows them in."""

    def __init__(self, objects: Sequence[CodeObject], files: Sequence[FileNames], modules: Modules) -> None:
        self.objects = objects
        self.files = files
        self.modules = modules
        self._scopes = {scope.object: scope for file in files for scope in file.scopes}
        self.classes = ClassMembers(self, self._scopes)
        self._nodes: dict[int, Values] = {}
        self._hints: dict[tuple[int, int], Values] = {}
        self._bindings: dict[int, Values] = {}
        self._results: dict[tuple[int, int], Values] = {}
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
                member = self.classes.member
                entered = member(value.index, "__enter__") or member(value.index, "__aenter__")
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

    def members(self, value: Value, name: str, access: Access = Access.READ) -> Values | None:
        """The attribute `name` of `value` as it is written, a property being its function; None when there is none."""
        match value:
            case Module(name=module):
                return self.module_member(module, name) or None
            case Class(index=index):
                found = self.classes.member(index, name, access)
                return self.classes.of_metaclass(index, name, access) if found is None else found
            case Instance(index=index, is_own=is_own):
                return (Class(index, is_own),) if name == "__class__" else self.classes.member(index, name, access)
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
            found = [self.classes.member(v.index, text, access, after=after) for v in owners if isinstance(v, Instance)]
        else:
            found = [self._member_from(owner, text, access, scope) for owner in owners]
        return owners, union(*[values or UNKNOWN for values in found])

    def _member_from(self, value: Value, name: str, access: Access, scope: Scope) -> Values | None:
        """The attribute as the code in `scope` reaches it: private names and submodules differ from place to place."""
        if isinstance(value, Class | Instance) and is_private(name):
            own = enclosing_class(scope)
            is_ancestor = own is not None and own in self.classes.order(value.index)
            return self.classes.own(own, name, access) if own is not None and is_ancestor else None
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
                return union(*[self.result(value) for value in self.classes.member(index, "__call__") or UNKNOWN])
            case ContainerMethod():
                return call_container_method(callee)
            case External():
                return OUTSIDE
        return UNKNOWN

    def _result(self, index: int, receiver: int) -> Values:
        scope = self._scopes.get(index)
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
                iterators = union(*[self.result(v) for v in self.classes.member(value.index, "__iter__") or UNKNOWN])
                found.append(items_of(iterators) or self.getitem(value))
        return union(*found)

    def getitem(self, value: Instance) -> Values:
        return union(*[self.result(member) for member in self.classes.member(value.index, "__getitem__") or UNKNOWN])

    def hint_values(self, node: Node, scope: Scope, receiver: int = -1) -> Values:
        """What a value with this type hint is; `receiver` is the class that `Self` means."""
        return self._remember(self._hints, (node.id, receiver), lambda: described_values(self, node, scope, receiver))


def _text(node: Node, scope: Scope) -> str:
    return scope.file.text(node)
