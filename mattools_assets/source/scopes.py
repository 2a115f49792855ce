"""Scopes, what they bind, and where names are used: the facts about one file that resolving works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from tree_sitter import Node

from mattools_assets.source.tree import canonical

Span = tuple[int, int]
"""First byte and the byte after the last one."""


class Role(IntEnum):
    """What a mention is for, the most telling first: it decides the kind of a reference with several mentions."""

    CALL = 0
    INHERIT = 1
    DECORATE = 2
    USE = 3
    HINT = 4
    IMPORT = 5


class Access(StrEnum):
    """What is done with an attribute, and which function of a property does it."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"


class ScopeKind(StrEnum):
    """What opens a scope. Only the first three are objects of the tree."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"

    @property
    def is_inside_expression(self) -> bool:
        """True for scopes that are part of a statement of the scope around them."""
        return self in (ScopeKind.LAMBDA, ScopeKind.COMPREHENSION)


class Bound(StrEnum):
    """How a name gets its value."""

    DEFINITION = "definition"  # class or def; `target` is the object's index
    IMPORT = "import"  # `module`, or `member` of it
    VALUE = "value"  # what `node` evaluates to
    HINT = "hint"  # an instance of what the hint `node` says
    ITEM = "item"  # an item of what `node` evaluates to
    ENTERED = "entered"  # what `with node as name` gives
    SELF = "self"  # an instance of the class `target`
    CLS = "cls"  # the class `target`
    OPAQUE = "opaque"  # nothing is known


@dataclass(slots=True, eq=False, repr=False)
class Binding:
    """One way in which a name of a scope gets a value.

    `start`: byte from which it holds. `block`: the statements that it stands among; inside them it hides what was
    bound before. `scope`: where the names in `node` are looked up. `unpacked`: places in nested tuples that the value
    is taken from, negative behind a star. `only_in_block`: holds nowhere else (a narrowed type).
    """

    how: Bound
    start: int
    block: Span
    scope: Scope
    node: Node | None = None
    target: int = -1
    module: str | None = None
    member: str | None = None
    unpacked: tuple[int, ...] = ()
    only_in_block: bool = False
    access: Access = Access.READ


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """A module, class or function body, lambda or comprehension with the names it binds.

    `object` is the index of its object in the tree, for a lambda or comprehension that of the object around it.
    `attributes` of a class are those that its methods set on their first parameter.
    """

    kind: ScopeKind
    file: FileNames
    object: int
    parent: Scope | None
    span: Span
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: dict[str, list[Binding]] = field(default_factory=dict)
    bases: list[Node] = field(default_factory=list)
    metaclass: Node | None = None
    type_parameters: dict[str, Binding] | None = None
    first_parameter: str | None = None
    return_hint: Node | None = None
    returns: list[Node] = field(default_factory=list)
    yields: list[Node] = field(default_factory=list)
    elsewhere: dict[str, Scope] | None = None  # names declared global or nonlocal
    star_imports: list[Binding] = field(default_factory=list)  # each as an import of no name yet

    def bind(self, name: str, binding: Binding) -> None:
        """Adds a binding to this scope, or to the one that a global or nonlocal statement names."""
        scope = self.elsewhere.get(name, self) if self.elsewhere else self
        scope.bindings.setdefault(name, []).append(binding)


@dataclass(slots=True, eq=False, repr=False)
class Mention:
    """A name or attribute in the source: `node` is the identifier or the whole attribute, `owner` the object index.

    `binding` is set for a name inside an import statement: the one that the statement makes.
    """

    node: Node
    name: str
    scope: Scope
    owner: int
    role: Role
    access: Access = Access.READ
    binding: Binding | None = None


@dataclass(slots=True, eq=False, repr=False)
class FileNames:
    """All scopes and mentions of a file; `data` is the UTF-8 text that the nodes' offsets refer to.

    `quoted_hints` maps the id of a string node that stands where a type hint does to the syntax inside it,
    `inner_scopes` the id of a comprehension to its scope. `submodules` are those that `import a.b` loads into `a`.
    """

    place: int
    data: bytes
    scopes: list[Scope] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    quoted_hints: dict[int, Node] = field(default_factory=dict)
    inner_scopes: dict[int, Scope] = field(default_factory=dict)
    submodules: set[str] = field(default_factory=set)
    large_literals: list[Node] = field(default_factory=list)

    def text(self, node: Node) -> str:
        """The source of a node, letters in the form in which Python compares names."""
        text = self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")
        return text if text.isascii() else canonical(text)
