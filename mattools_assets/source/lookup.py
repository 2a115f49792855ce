"""Python's scope rules: which bindings a name can have at a place."""

from __future__ import annotations

from mattools_assets.source.scopes import Binding, Scope, ScopeKind


def lookup(name: str, scope: Scope, at: int) -> list[Binding]:
    """The bindings that `name` can have at byte `at` of `scope`, the latest first; empty when there is none."""
    here: Scope | None = scope
    is_at_place = True  # no function body that runs later lies between
    while here is not None:
        if here.type_parameters and name in here.type_parameters:
            return [here.type_parameters[name]]
        if here is scope or here.kind is not ScopeKind.CLASS:
            if here.elsewhere and name in here.elsewhere:
                here, is_at_place = here.elsewhere[name], False
            found = here.bindings.get(name)
            if found:
                holding = visible(found, at if is_at_place else here.span[1])
                if holding:
                    return holding
                late = [binding for binding in found if not binding.only_in_block]
                if late and here.kind is ScopeKind.FUNCTION:  # bound further down: a loop, or a mistake
                    return late
        is_at_place = is_at_place and here.kind.is_inside_expression
        here = here.parent
    return []


def visible(found: list[Binding], at: int) -> list[Binding]:
    """The bindings that can hold at `at`: back to the last one whose statements enclose the place."""
    chosen: list[Binding] = []
    for binding in reversed(found):
        if binding.start > at or (binding.only_in_block and not binding.block[0] <= at < binding.block[1]):
            continue
        chosen.append(binding)
        if binding.block[0] <= at <= binding.block[1]:
            break
    return chosen


def enclosing_class(scope: Scope) -> int | None:
    here: Scope | None = scope
    while here is not None and here.kind is not ScopeKind.CLASS:
        here = here.parent
    return here.object if here is not None else None


def is_private(name: str) -> bool:
    """True for names that Python mangles, so that only the class whose body mentions them has them."""
    return name.startswith("__") and not name.endswith("__")
