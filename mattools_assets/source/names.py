"""One walk over a file's syntax tree: its scopes, what they bind, and every mention of a name worth resolving."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, replace

from tree_sitter import Node, Parser, Range

from mattools_assets.source.modules import Modules
from mattools_assets.source.scopes import Binding, Bound, FileNames, Mention, Role, Scope, ScopeKind, Span
from mattools_assets.source.tree import PYTHON, CodeObject, ParsedFile, parts_of

LARGE_LITERAL_BYTES = 262_144
LONGEST_QUOTED_HINT = 500
_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_COMPREHENSIONS = ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk is: names are looked up in `scope`, mentions belong to the object `owner`."""

    scope: Scope
    owner: int
    block: Span


class NameWalk:
    """Collects a file's names. `wanted` are the names that some definition of the source, or an alias of it, has."""

    def __init__(self, parsed: ParsedFile, place: int, modules: Modules, wanted: Set[str]) -> None:
        self.names = FileNames(place, parsed.data)
        self.modules = modules
        self.wanted = wanted
        self.objects = {item.node.start_byte: item for item in parsed.objects if item.node is not None}
        root = parsed.tree.root_node
        span = (0, len(parsed.data))
        module = self._open(ScopeKind.MODULE, parsed.object_index, None, span)
        self.stack: list[tuple[Node, Place, Role]] = [(root, Place(module, parsed.object_index, span), Role.USE)]

    def run(self) -> FileNames:
        """The names of the whole file."""
        stack = self.stack
        while stack:
            node, place, role = stack.pop()
            handle = _HANDLERS.get(node.type)
            if handle is not None:
                handle(self, node, place, role)
            else:
                self._push_children(node, place, role)
        return self.names

    def _open(self, kind: ScopeKind, index: int, parent: Scope | None, span: Span) -> Scope:
        scope = Scope(kind, self.names, index, parent, span)
        self.names.scopes.append(scope)
        return scope

    def _push(self, node: Node | None, place: Place, role: Role = Role.USE) -> None:
        if node is not None:
            self.stack.append((node, place, role))

    def _push_children(self, node: Node, place: Place, role: Role = Role.USE) -> None:
        passed_on = role if role is Role.HINT else Role.USE
        self.stack += [(child, place, passed_on) for child in reversed(node.named_children)]

    # Mentions

    def identifier(self, node: Node, place: Place, role: Role) -> None:
        name = self.names.text(node)
        if name in self.wanted:
            self.names.mentions.append(Mention(node, name, place.scope, place.owner, role))

    def attribute(self, node: Node, place: Place, role: Role, is_write: bool = False) -> None:
        last = node.child_by_field_name("attribute")
        if last is not None:
            name = self.names.text(last)
            if name in self.wanted:
                self.names.mentions.append(Mention(node, name, place.scope, place.owner, role, is_write))
        self._push(node.child_by_field_name("object"), place, Role.HINT if role is Role.HINT else Role.USE)

    def call(self, node: Node, place: Place, role: Role) -> None:
        self._push(node.child_by_field_name("arguments"), place)
        self._push(node.child_by_field_name("function"), place, role if role is Role.DECORATE else Role.CALL)

    def keyword_argument(self, node: Node, place: Place, _role: Role) -> None:
        self._push(node.child_by_field_name("value"), place)

    def string(self, node: Node, place: Place, role: Role) -> None:
        if role is Role.HINT and node.end_byte - node.start_byte <= LONGEST_QUOTED_HINT:
            self._quoted_hint(node, place)
        else:
            self.stack += [(child, place, Role.USE) for child in node.named_children if child.type == "interpolation"]

    def _quoted_hint(self, node: Node, place: Place) -> None:
        content = next((child for child in node.named_children if child.type == "string_content"), None)
        if content is None:
            return
        inside = Range(content.start_point, content.end_point, content.start_byte, content.end_byte)
        root = Parser(PYTHON, included_ranges=[inside]).parse(self.names.data).root_node
        self.names.quoted_hints[node.id] = root
        self._push_children(root, place, Role.HINT)

    def generic(self, node: Node, place: Place, role: Role) -> None:
        if role is Role.HINT and self.names.text(node.named_children[0]).endswith("Literal"):
            return
        self._push_children(node, place, role)

    def literal(self, node: Node, place: Place, role: Role) -> None:
        if node.end_byte - node.start_byte > LARGE_LITERAL_BYTES:
            self.names.large_literals.append(node)
        else:
            self._push_children(node, place, role)

    # Definitions

    def decorated(self, node: Node, place: Place, _role: Role) -> None:
        definition = node.child_by_field_name("definition")
        self._push(definition, place)
        item = self.objects.get(definition.start_byte) if definition else None
        inside = Place(place.scope, item.index, place.block) if item else place
        for decorator in node.named_children:
            if decorator.type == "decorator" and decorator.named_children:
                self._push(decorator.named_children[0], inside, Role.DECORATE)

    def class_definition(self, node: Node, place: Place, _role: Role) -> None:
        item = self.objects[node.start_byte]
        self._bind_definition(item, node, place)
        scope = self._open(ScopeKind.CLASS, item.index, place.scope, (node.start_byte, node.end_byte))
        self._push_body(node, scope, item.index)
        outside = Place(place.scope, item.index, place.block)
        bases = node.child_by_field_name("superclasses")
        for base in reversed(parts_of(bases) if bases else []):
            if base.type != "keyword_argument":
                scope.bases.insert(0, base)
            self._push(base, outside, Role.INHERIT)

    def function_definition(self, node: Node, place: Place, _role: Role) -> None:
        item = self.objects[node.start_byte]
        self._bind_definition(item, node, place)
        scope = self._open(ScopeKind.FUNCTION, item.index, place.scope, (node.start_byte, node.end_byte))
        self._push_body(node, scope, item.index)
        outside = Place(place.scope, item.index, place.block)
        scope.return_hint = node.child_by_field_name("return_type")
        self._push(scope.return_hint, outside, Role.HINT)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            self._parameters(parameters, scope, scope.span, outside)
            if place.scope.kind is ScopeKind.CLASS and not item.has_decorator("staticmethod"):
                self._first_parameter(parameters, scope, item)

    def _bind_definition(self, item: CodeObject, node: Node, place: Place) -> None:
        is_setter = any(text.endswith((".setter", ".deleter")) for text in item.decorators)
        place.scope.bind(
            item.name,
            Binding(
                Bound.DEFINITION, node.start_byte, place.block, place.scope, target=item.index, is_setter=is_setter
            ),
        )

    def _push_body(self, node: Node, scope: Scope, owner: int) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self._push_children(body, Place(scope, owner, scope.span))

    def _parameters(self, node: Node, scope: Scope, block: Span, outside: Place, only_in_block: bool = False) -> None:
        for parameter in parts_of(node):
            hint = parameter.child_by_field_name("type")
            default = parameter.child_by_field_name("value")
            name = parameter.child_by_field_name("name") or parameter
            if parameter.type == "typed_parameter":
                name = parameter.named_children[0]
            self._push(default, outside)
            self._push(hint, outside, Role.HINT)
            starred = name.type.endswith("splat_pattern")
            while name.type.endswith("splat_pattern") and name.named_children:
                name = name.named_children[0]
            if name.type == "identifier":
                known = hint or default
                how = Bound.OPAQUE if starred or known is None else Bound.HINT if hint else Bound.VALUE
                binding = Binding(how, block[0], block, outside.scope, known, only_in_block=only_in_block)
                scope.bind(self.names.text(name), binding)

    def _first_parameter(self, parameters: Node, scope: Scope, item: CodeObject) -> None:
        first = next(iter(parts_of(parameters)), None)
        if first is None or first.type not in ("identifier", "typed_parameter") or scope.parent is None:
            return
        name = self.names.text(first if first.type == "identifier" else first.named_children[0])
        is_class = item.has_decorator("classmethod") or item.name in _CLASS_METHODS
        how = Bound.CLS if is_class else Bound.SELF
        scope.first_parameter = name
        scope.bindings[name] = [Binding(how, scope.span[0], scope.span, scope, target=scope.parent.object)]

    def lambda_(self, node: Node, place: Place, _role: Role) -> None:
        span = (node.start_byte, node.end_byte)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            self._parameters(parameters, place.scope, span, place, only_in_block=True)
        self._push(node.child_by_field_name("body"), place)

    # Bindings

    def _bind_target(self, target: Node, binding: Binding, place: Place) -> None:
        """Binds a name, an attribute of the first parameter, or each part of a tuple."""
        kind = target.type
        if kind == "identifier":
            place.scope.bind(self.names.text(target), binding)
        elif kind == "attribute":
            self._bind_attribute(target, binding, place)
            self.attribute(target, place, Role.USE, is_write=True)
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "parenthesized_expression", "tuple"):
            for position, part in enumerate(parts_of(target)):
                unpacked = (*binding.unpacked, position) if kind != "parenthesized_expression" else binding.unpacked
                self._bind_target(part, replace(binding, unpacked=unpacked), place)
        elif kind == "list_splat_pattern" and target.named_children:
            self._bind_target(target.named_children[0], replace(binding, how=Bound.OPAQUE), place)
        else:
            self._push(target, place)

    def _bind_attribute(self, target: Node, binding: Binding, place: Place) -> None:
        receiver = target.child_by_field_name("object")
        attribute = target.child_by_field_name("attribute")
        scope: Scope | None = place.scope
        while scope is not None and (scope.kind is not ScopeKind.FUNCTION or scope.first_parameter is None):
            scope = scope.parent
        if scope is None or scope.parent is None or receiver is None or attribute is None:
            return
        if receiver.type == "identifier" and self.names.text(receiver) == scope.first_parameter:
            scope.parent.attributes.setdefault(self.names.text(attribute), []).append(binding)

    def assignment(self, node: Node, place: Place, _role: Role) -> None:
        left = node.child_by_field_name("left")
        hint = node.child_by_field_name("type")
        right = node.child_by_field_name("right")
        self._push(right, place)
        self._push(hint, place, Role.HINT)
        is_hint = hint is not None and not self.names.text(hint).endswith("TypeAlias")
        known = hint if is_hint else right
        if left is not None and known is not None:
            how = Bound.HINT if is_hint else Bound.VALUE
            self._bind_target(left, Binding(how, node.end_byte, place.block, place.scope, known), place)

    def named_expression(self, node: Node, place: Place, _role: Role) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        self._push(value, place)
        if name is not None:
            self._bind_target(name, Binding(Bound.VALUE, node.start_byte, place.block, place.scope, value), place)

    def type_alias(self, node: Node, place: Place, _role: Role) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self._push(right, place, Role.HINT)
        if left is not None and left.named_children:
            binding = Binding(Bound.VALUE, node.end_byte, place.block, place.scope, right)
            self._bind_target(left.named_children[0], binding, place)

    def for_statement(self, node: Node, place: Place, _role: Role) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self._push(node.child_by_field_name("alternative"), place)
        self._push(node.child_by_field_name("body"), place)
        self._push(right, place)
        if left is not None and right is not None:
            self._bind_target(left, Binding(Bound.ITEM, right.end_byte, place.block, place.scope, right), place)

    def comprehension(self, node: Node, place: Place, _role: Role) -> None:
        span = (node.start_byte, node.end_byte)
        for clause in node.named_children:
            left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
            if clause.type == "for_in_clause" and left is not None:
                binding = Binding(Bound.ITEM, span[0], span, place.scope, right, only_in_block=True)
                self._bind_target(left, binding, place)
        self._push_children(node, place)

    def for_in_clause(self, node: Node, place: Place, _role: Role) -> None:
        self._push(node.child_by_field_name("right"), place)

    def with_statement(self, node: Node, place: Place, _role: Role) -> None:
        body = node.child_by_field_name("body")
        if body is not None:  # no block of its own: it always runs
            self._push_children(body, place)
        for child in node.named_children:
            if child.type == "with_clause":
                self._push(child, place)

    def as_pattern(self, node: Node, place: Place, role: Role) -> None:
        value, target = node.named_children[0], node.child_by_field_name("alias")
        how = Bound.HINT if role is Role.INHERIT else Bound.ENTERED
        self._push(value, place)
        if target is not None and target.named_children:
            binding = Binding(how, node.end_byte, place.block, place.scope, value)
            self._bind_target(target.named_children[0], binding, place)

    def except_clause(self, node: Node, place: Place, _role: Role) -> None:
        for child in reversed(node.named_children):
            # INHERIT marks the one place where `as` gives an instance of the class before it.
            self._push(child, place, Role.INHERIT if child.type == "as_pattern" else Role.USE)

    def block(self, node: Node, place: Place, role: Role) -> None:
        self._push_children(node, Place(place.scope, place.owner, (node.start_byte, node.end_byte)), role)

    def condition(self, node: Node, place: Place, role: Role) -> None:
        test, consequence = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if test is not None and consequence is not None:
            block = (consequence.start_byte, consequence.end_byte)
            self._narrow(test, Binding(Bound.OPAQUE, block[0], block, place.scope, only_in_block=True), place)
        self._push_children(node, place, role)

    def assertion(self, node: Node, place: Place, role: Role) -> None:
        if node.named_children:
            opaque = Binding(Bound.OPAQUE, node.end_byte, place.block, place.scope)
            self._narrow(node.named_children[0], opaque, place)
        self._push_children(node, place, role)

    def _narrow(self, test: Node, binding: Binding, place: Place) -> None:
        """Binds `x` to an instance of `X` where `isinstance(x, X)`, alone or joined by `and`, holds."""
        if test.type == "boolean_operator" and test.children[1].type == "and":
            for side in test.named_children:
                self._narrow(side, binding, place)
        function, arguments = test.child_by_field_name("function"), test.child_by_field_name("arguments")
        if function is None or arguments is None or self.names.text(function) != "isinstance":
            return
        given = parts_of(arguments)
        if len(given) == 2 and given[0].type == "identifier":
            place.scope.bind(self.names.text(given[0]), replace(binding, how=Bound.HINT, node=given[1]))

    def global_statement(self, node: Node, place: Place, _role: Role) -> None:
        module = place.scope
        while module.parent is not None:
            module = module.parent
        for child in node.named_children:
            place.scope.elsewhere[self.names.text(child)] = module

    def nonlocal_statement(self, node: Node, place: Place, _role: Role) -> None:
        for child in node.named_children:
            name, scope = self.names.text(child), place.scope.parent
            while scope is not None and name not in scope.bindings:
                scope = scope.parent
            if scope is not None:
                place.scope.elsewhere[name] = scope

    def class_pattern(self, node: Node, place: Place, _role: Role) -> None:
        dotted, *rest = node.named_children
        if dotted.named_child_count == 1:
            self._push(dotted.named_children[0], place)
        self.stack += [(child, place, Role.USE) for child in rest]

    def dotted_name(self, node: Node, place: Place, _role: Role) -> None:
        """A plain name in a `match` pattern is bound by it."""
        if node.named_child_count == 1:
            place.scope.bind(self.names.text(node), Binding(Bound.OPAQUE, node.start_byte, place.block, place.scope))

    # Imports

    def import_statement(self, node: Node, place: Place, _role: Role) -> None:
        for child in node.named_children:
            alias = child.child_by_field_name("alias")
            full = self.names.text(child.child_by_field_name("name") or child)
            module = full if alias is not None else full.partition(".")[0]
            binding = Binding(
                Bound.IMPORT,
                node.end_byte,
                place.block,
                place.scope,
                module=self.modules.absolute(self.names.place, 0, module),
            )
            place.scope.bind(self.names.text(alias) if alias is not None else module, binding)

    def import_from(self, node: Node, place: Place, _role: Role) -> None:
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        text = "".join(self.names.text(source).split())
        path = text.lstrip(".")
        module = self.modules.absolute(self.names.place, len(text) - len(path), path)
        if any(child.type == "wildcard_import" for child in node.named_children):
            place.scope.star_imports.append(module)
        for child in node.children_by_field_name("name"):
            member = child.child_by_field_name("name") or child
            alias = child.child_by_field_name("alias") or member
            name = self.names.text(member)
            binding = Binding(Bound.IMPORT, node.end_byte, place.block, place.scope, module=module, member=name)
            place.scope.bind(self.names.text(alias), binding)
            if name in self.wanted:
                mention = Mention(member, name, place.scope, place.owner, Role.IMPORT, binding=binding)
                self.names.mentions.append(mention)

    def ignore(self, node: Node, place: Place, role: Role) -> None:
        """Nothing below this node is a name."""

    # Results of functions

    def return_statement(self, node: Node, place: Place, role: Role) -> None:
        place.scope.returns += parts_of(node)[:1]
        self._push_children(node, place, role)

    def yield_(self, node: Node, place: Place, role: Role) -> None:
        if node.named_children and node.children[1].type != "from":
            place.scope.yields.append(node.named_children[0])
        self._push_children(node, place, role)


_HANDLERS: dict[str, Callable[[NameWalk, Node, Place, Role], None]] = {
    "identifier": NameWalk.identifier,
    "attribute": NameWalk.attribute,
    "call": NameWalk.call,
    "keyword_argument": NameWalk.keyword_argument,
    "string": NameWalk.string,
    "comment": NameWalk.ignore,
    "generic_type": NameWalk.generic,
    "subscript": NameWalk.generic,
    "decorated_definition": NameWalk.decorated,
    "class_definition": NameWalk.class_definition,
    "function_definition": NameWalk.function_definition,
    "lambda": NameWalk.lambda_,
    "assignment": NameWalk.assignment,
    "named_expression": NameWalk.named_expression,
    "type_alias_statement": NameWalk.type_alias,
    "for_statement": NameWalk.for_statement,
    "for_in_clause": NameWalk.for_in_clause,
    "with_statement": NameWalk.with_statement,
    "as_pattern": NameWalk.as_pattern,
    "except_clause": NameWalk.except_clause,
    "block": NameWalk.block,
    "if_statement": NameWalk.condition,
    "elif_clause": NameWalk.condition,
    "assert_statement": NameWalk.assertion,
    "global_statement": NameWalk.global_statement,
    "nonlocal_statement": NameWalk.nonlocal_statement,
    "class_pattern": NameWalk.class_pattern,
    "keyword_pattern": NameWalk.ignore,
    "dotted_name": NameWalk.dotted_name,
    "import_statement": NameWalk.import_statement,
    "import_from_statement": NameWalk.import_from,
    "future_import_statement": NameWalk.ignore,
    "return_statement": NameWalk.return_statement,
    "yield": NameWalk.yield_,
}
_HANDLERS |= dict.fromkeys(_COMPREHENSIONS, NameWalk.comprehension)
_HANDLERS |= dict.fromkeys(("list", "dictionary", "set", "tuple"), NameWalk.literal)
