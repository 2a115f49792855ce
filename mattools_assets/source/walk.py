"""The walk over a file's syntax tree that collects its names; what is done at each kind of node is in `names`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from tree_sitter import Node

from mattools_assets.source.modules import Modules
from mattools_assets.source.scopes import Access, FileNames, Mention, Role, Scope, ScopeKind, Span
from mattools_assets.source.tree import ParsedFile


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk is: names are looked up in `scope`, mentions belong to the object `owner`."""

    scope: Scope
    owner: int
    block: Span


class NameWalk:
    """A walk in the order of the source, without recursion, so that no expression is nested too deeply.

    `wanted` are the names that some definition of the source, or an alias of it, has: no other is worth a mention.
    """

    def __init__(self, parsed: ParsedFile, place: int, modules: Modules, wanted: Set[str]) -> None:
        self.names = FileNames(place, parsed.data)
        self.modules = modules
        self.wanted = wanted
        self.objects = {item.node.start_byte: item for item in parsed.objects if item.node is not None}
        root = parsed.tree.root_node
        span = (0, len(parsed.data))
        module = self.open(ScopeKind.MODULE, parsed.object_index, None, span)
        self.stack: list[tuple[Node, Place, Role]] = [(root, Place(module, parsed.object_index, span), Role.USE)]

    def run(self, handlers: Mapping[str, Handler]) -> FileNames:
        """The names of the whole file. A node of a kind without handler passes on to its children."""
        stack = self.stack
        while stack:
            node, place, role = stack.pop()
            handle = handlers.get(node.type)
            if handle is not None:
                handle(self, node, place, role)
            else:
                self.push_children(node, place, role)
        return self.names

    def open(self, kind: ScopeKind, index: int, parent: Scope | None, span: Span) -> Scope:
        """A new scope for the object `index`."""
        scope = Scope(kind, self.names, index, parent, span)
        self.names.scopes.append(scope)
        return scope

    def open_inside(self, kind: ScopeKind, node: Node, place: Place) -> Place:
        """The inside of a lambda or comprehension, with a new scope."""
        scope = Scope(kind, self.names, place.owner, place.scope, (node.start_byte, node.end_byte))
        self.names.inner_scopes[node.id] = scope
        return Place(scope, place.owner, place.block)

    def push(self, node: Node | None, place: Place, role: Role = Role.USE) -> None:
        """Has `node` visited next."""
        if node is not None:
            self.stack.append((node, place, role))

    def push_children(self, node: Node, place: Place, role: Role = Role.USE) -> None:
        """Has the children visited in their order; inside a hint everything is part of the hint."""
        passed_on = role if role is Role.HINT else Role.USE
        self.stack += [(child, place, passed_on) for child in reversed(node.named_children)]

    def mention(self, node: Node, name: str, place: Place, role: Role, access: Access = Access.READ) -> None:
        """Notes that `name` is mentioned by `node`."""
        if name in self.wanted:
            self.names.mentions.append(Mention(node, name, place.scope, place.owner, role, access))


Handler = Callable[[NameWalk, Node, Place, Role], None]
