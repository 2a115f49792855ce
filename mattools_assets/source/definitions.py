"""Classes, functions and lambdas: the scopes they open, their parameters, and what functions give back."""

from __future__ import annotations

from tree_sitter import Node

from mattools_assets.source.scopes import Access, Binding, Bound, Role, Scope, ScopeKind
from mattools_assets.source.tree import CodeObject, parts_of
from mattools_assets.source.walk import Handler, NameWalk, Place

_ACCESSORS = {"setter": Access.WRITE, "deleter": Access.DELETE}
_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def decorated(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    definition = node.child_by_field_name("definition")
    walk.push(definition, place)
    item = walk.objects.get(definition.start_byte) if definition else None
    inside = Place(place.scope, item.index, place.block) if item else place
    for decorator in node.named_children:
        if decorator.type == "decorator" and decorator.named_children:
            walk.push(decorator.named_children[0], inside, Role.DECORATE)


def class_definition(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    item = walk.objects[node.start_byte]
    _bind_definition(item, node, place)
    scope = walk.open(ScopeKind.CLASS, item.index, place.scope, (node.start_byte, node.end_byte))
    _push_body(walk, node, scope, item.index)
    outside = Place(place.scope, item.index, place.block)
    _type_parameters(walk, node, scope, outside)
    bases = node.child_by_field_name("superclasses")
    for base in reversed(parts_of(bases) if bases else []):
        if base.type != "keyword_argument":
            scope.bases.insert(0, base)
        elif walk.names.text(base).startswith("metaclass"):
            scope.metaclass = base.child_by_field_name("value")
        walk.push(base, outside, Role.INHERIT)


def function_definition(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    item = walk.objects[node.start_byte]
    _bind_definition(item, node, place)
    scope = walk.open(ScopeKind.FUNCTION, item.index, place.scope, (node.start_byte, node.end_byte))
    _push_body(walk, node, scope, item.index)
    outside = Place(place.scope, item.index, place.block)
    _type_parameters(walk, node, scope, outside)
    scope.return_hint = node.child_by_field_name("return_type")
    walk.push(scope.return_hint, outside, Role.HINT)
    parameters = node.child_by_field_name("parameters")
    if parameters is not None:
        bind_parameters(walk, parameters, scope, outside)
        if place.scope.kind is ScopeKind.CLASS and not item.has_decorator("staticmethod"):
            _first_parameter(walk, parameters, scope, item)


def _bind_definition(item: CodeObject, node: Node, place: Place) -> None:
    access = next((_ACCESSORS[end] for text in item.decorators if (end := text.rpartition(".")[2]) in _ACCESSORS), None)
    place.scope.bind(
        item.name,
        Binding(
            Bound.DEFINITION,
            node.start_byte,
            place.block,
            place.scope,
            target=item.index,
            access=access or Access.READ,
        ),
    )


def _type_parameters(walk: NameWalk, node: Node, scope: Scope, place: Place) -> None:
    """`def f[T]` and `class A[T]`: each hides its name in the head and everything inside."""
    listed = node.child_by_field_name("type_parameters")
    span = (node.start_byte, node.end_byte)
    for parameter in parts_of(listed) if listed is not None else []:
        name = parameter.named_children[0] if parameter.type == "type" else parameter
        for bound in name.named_children[1:]:
            walk.push(bound, place, Role.HINT)
        while name.named_children:
            name = name.named_children[0]
        binding = Binding(Bound.OPAQUE, span[0], span, place.scope, only_in_block=True)
        scope.type_parameters = {**(scope.type_parameters or {}), walk.names.text(name): binding}
        place.scope.bind(walk.names.text(name), binding)


def _push_body(walk: NameWalk, node: Node, scope: Scope, owner: int) -> None:
    body = node.child_by_field_name("body")
    if body is not None:
        walk.push_children(body, Place(scope, owner, scope.span))


def bind_parameters(walk: NameWalk, node: Node, scope: Scope, outside: Place) -> None:
    for parameter in parts_of(node):
        hint = parameter.child_by_field_name("type")
        default = parameter.child_by_field_name("value")
        name = parameter.child_by_field_name("name") or parameter
        if parameter.type == "typed_parameter":
            name = parameter.named_children[0]
        walk.push(default, outside)
        walk.push(hint, outside, Role.HINT)
        starred = name.type.endswith("splat_pattern")
        while name.type.endswith("splat_pattern") and name.named_children:
            name = name.named_children[0]
        if name.type == "identifier":
            known = hint or default
            how = Bound.OPAQUE if starred or known is None else Bound.HINT if hint else Bound.VALUE
            scope.bind(walk.names.text(name), Binding(how, scope.span[0], scope.span, outside.scope, known))


def _first_parameter(walk: NameWalk, parameters: Node, scope: Scope, item: CodeObject) -> None:
    first = next(iter(parts_of(parameters)), None)
    if first is None or first.type not in ("identifier", "typed_parameter") or scope.parent is None:
        return
    name = walk.names.text(first if first.type == "identifier" else first.named_children[0])
    is_class = item.has_decorator("classmethod") or item.name in _CLASS_METHODS
    how = Bound.CLS if is_class else Bound.SELF
    scope.first_parameter = name
    scope.bindings[name] = [Binding(how, scope.span[0], scope.span, scope, target=scope.parent.object)]


def lambda_(walk: NameWalk, node: Node, place: Place, _role: Role) -> None:
    inside = walk.open_inside(ScopeKind.LAMBDA, node, place)
    walk.push(node.child_by_field_name("body"), inside)
    parameters = node.child_by_field_name("parameters")
    if parameters is not None:
        bind_parameters(walk, parameters, inside.scope, place)


def return_statement(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    place.scope.returns += parts_of(node)[:1]
    walk.push_children(node, place, role)


def yield_(walk: NameWalk, node: Node, place: Place, role: Role) -> None:
    if node.named_children and all(child.type != "from" for child in node.children):
        place.scope.yields.append(node.named_children[0])
    walk.push_children(node, place, role)


HANDLERS: dict[str, Handler] = {
    "decorated_definition": decorated,
    "class_definition": class_definition,
    "function_definition": function_definition,
    "lambda": lambda_,
    "return_statement": return_statement,
    "yield": yield_,
}
