"""Who refers to whom: every mention of a name resolved, one row for each pair of objects."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np

from mattools_assets.source.inference import Inference
from mattools_assets.source.lookup import is_private, lookup
from mattools_assets.source.modules import Modules
from mattools_assets.source.names import collect_names
from mattools_assets.source.problems import Problem, ProblemKind
from mattools_assets.source.scopes import Bound, FileNames, Mention, Role
from mattools_assets.source.stars import expand_star_imports
from mattools_assets.source.tree import CodeObject, Kind, SourceTree, canonical
from mattools_assets.source.values import Class, External, Function, Instance, Values


class Certainty(IntEnum):
    """How sure a reference is, the surest first."""

    EXACT = 0  # scopes, imports, modules and classes, or inheritance from self, cls and super lead to one definition
    TYPED = 1  # the class of the receiver follows from a hint, a constructor call or what a function returns
    AMBIGUOUS = 2  # the name or its receiver can stand for several definitions, this being one
    NAME_ONLY = 3  # the receiver is unknown, and only one definition of the source has this attribute name


@dataclass(slots=True)
class Reference:
    """`source` refers to `target` (indices of objects) `mentions` times, first on `line` of the source's file."""

    source: int
    target: int
    kind: Role
    certainty: Certainty
    line: int
    mentions: int


def find_references(tree: SourceTree) -> list[Reference]:
    """All references of a source, ordered by source and target. Adds what it had to leave out to the problems."""
    modules = Modules.of(file.source.path for file in tree.files)
    wanted = _wanted_names(tree)
    files = [collect_names(parsed, place, modules, wanted) for place, parsed in enumerate(tree.files)]
    expand_star_imports(tree.files, files, modules)
    _list_large_literals(tree, files)
    resolver = _Resolver(tree.objects, Inference(tree.objects, files, modules))
    for file in files:
        for mention in file.mentions:
            resolver.resolve(mention)
    return [resolver.found[pair] for pair in sorted(resolver.found)]


def _wanted_names(tree: SourceTree) -> set[str]:
    """Names of definitions, and further names that imports and plain assignments give them."""
    defined = {item.name for item in tree.objects if item.kind.is_documented}
    wanted = set(defined)
    for parsed in tree.files:
        for node in parsed.renamings:
            name, equals, value = canonical(parsed.text(node)).partition("=")
            if not equals or value.strip().rpartition(".")[2] in defined:
                wanted.add(name.partition(":")[0].strip())
    return wanted


def _list_large_literals(tree: SourceTree, files: Iterable[FileNames]) -> None:
    for file in files:
        for node in file.large_literals:
            message = f"a literal of {node.end_byte - node.start_byte:,} bytes; names inside it are not followed"
            path = tree.files[file.place].source.path
            tree.problems.append(Problem(path, node.start_point.row + 1, ProblemKind.LARGE_LITERAL, message))


def _names_of_common_types() -> frozenset[str]:
    """Attribute names of the standard containers, texts, files, paths and arrays: nothing can be told from them."""
    types = (str, bytes, int, float, complex, list, tuple, dict, set, io.TextIOWrapper, Path, Counter, np.ndarray)
    return frozenset(name for kind in types for name in dir(kind))


class _Resolver:
    """Turns mentions into references."""

    def __init__(self, objects: Sequence[CodeObject], inference: Inference) -> None:
        self.objects = objects
        self.inference = inference
        self.found: dict[tuple[int, int], Reference] = {}
        self.only_member = self._only_members()

    def _only_members(self) -> dict[str, int]:
        """Names that one definition inside a class has and no other; a property's setter is no second one.

        Left out: names that classes also give to plain attributes, and those of Python's own and numpy's types.
        """
        names: dict[str, dict[int | None, int]] = {}
        for item in self.objects:
            if item.parent is not None and self.objects[item.parent].kind is Kind.CLASS:
                names.setdefault(item.name, {}).setdefault(item.parent, item.index)
        telling_nothing = _names_of_common_types() | self.inference.classes.plain_attributes()
        return {
            name: next(iter(owners.values()))
            for name, owners in names.items()
            if len(owners) == 1 and name not in telling_nothing
        }

    def resolve(self, mention: Mention) -> None:
        """Records what one mention refers to."""
        node = mention.node
        if mention.binding is not None:
            values = self.inference.binding_values(mention.binding)
            certainty = Certainty.EXACT
        elif node.type == "identifier":
            values = self.inference.name_values(mention.name, mention.scope, node.start_byte)
            certainty = Certainty.EXACT
        else:
            owners, values = self.inference.attribute_values(node, mention.scope, mention.access)
            values = self._without_unlikely_properties(owners, values, mention.name)
            certainty = self._attribute_certainty(mention, owners)
            if not owners and mention.name in self.only_member and not is_private(mention.name):
                self._record(mention, self.only_member[mention.name], Certainty.NAME_ONLY)
        targets = self._targets_of(values)
        for target in targets:
            self._record(mention, target, certainty if len(targets) == 1 else Certainty.AMBIGUOUS)

    @staticmethod
    def _targets_of(values: Values | None) -> tuple[int, ...]:
        """The definitions among values, once each: a method is the same through whichever subclass it is reached."""
        return tuple(dict.fromkeys(value.index for value in values or () if isinstance(value, Class | Function)))

    def _without_unlikely_properties(self, owners: Values, values: Values, name: str) -> Values:
        """Leaves out properties when the first class that the receiver can be has a plain attribute of this name.

        `Element | Species | DummySpecies` is mostly an element, and reading an element's symbol calls nothing.
        """
        is_plain = (self.inference.classes.is_plain(owner, name) for owner in owners)
        if len(owners) < 2 or not next((plain for plain in is_plain if plain is not None), False):
            return values
        return tuple(value for value in values if not self.inference.is_property(value))

    def _attribute_certainty(self, mention: Mention, owners: Values) -> Certainty:
        receiver = mention.node.child_by_field_name("object")
        if receiver is not None and receiver.type == "list_splat":
            receiver = receiver.named_children[0]
        if receiver is None or not any(isinstance(owner, Instance) for owner in owners):
            return Certainty.EXACT
        projects = [owner for owner in owners if not isinstance(owner, External)]
        members = [self.inference.members(owner, mention.name, mention.access) for owner in projects]
        reached = {self._targets_of(values) for values in members}
        if len(reached) > 1:  # the receiver can be one of several types, and they differ in this attribute
            return Certainty.AMBIGUOUS
        if receiver.type == "identifier":
            name = mention.scope.file.text(receiver)
            bindings = lookup(name, mention.scope, receiver.start_byte)
            is_first_parameter = all(binding.how in (Bound.SELF, Bound.CLS) for binding in bindings)
            return Certainty.EXACT if is_first_parameter else Certainty.TYPED
        _, after = self.inference.receivers(receiver, mention.scope)
        return Certainty.EXACT if after is not None else Certainty.TYPED

    def _record(self, mention: Mention, target: int, certainty: Certainty) -> None:
        pair = (mention.owner, target)
        known = self.found.get(pair)
        if known is None:
            line = mention.node.start_point.row + 1
            self.found[pair] = Reference(*pair, mention.role, certainty, line, 1)
            return
        known.kind = min(known.kind, mention.role)
        known.certainty = min(known.certainty, certainty)
        known.mentions += 1
