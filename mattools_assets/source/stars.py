"""Star imports: what `from module import *` brings, as if each name had been imported by itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mattools_assets.source.modules import Modules
from mattools_assets.source.scopes import Binding, FileNames, Scope
from mattools_assets.source.tree import ParsedFile

_ADDING = frozenset({"__all__", "__all__.extend", "__all__.append"})


def expand_star_imports(parsed: Sequence[ParsedFile], files: Sequence[FileNames], modules: Modules) -> None:
    """Binds in each module what its star imports bring, also through further star imports."""
    stars = [
        (file.scopes[0], modules.names[file.place], star, modules.files[star.module])
        for file in files
        for star in file.scopes[0].star_imports
        if star.module in modules.files
    ]
    listed = {place: listed_exports(parsed[place]) for _, _, _, place in stars}
    loaded = {place: _loaded_submodules(files[place].scopes[0], modules.names[place]) for place in listed}
    is_new = True
    while is_new:
        is_new = False
        for scope, name, star, place in stars:
            offered = files[place].scopes[0].bindings
            exported = listed[place]
            if exported is None:
                exported = [name for name in (*offered, *loaded[place]) if not name.startswith("_")]
            is_new |= _bring(scope, name, star, offered, exported)


def _loaded_submodules(scope: Scope, package: str) -> list[str]:
    """Submodules that a package imports something from: Python makes each an attribute of the package."""
    imports = [*scope.star_imports, *[binding for bindings in scope.bindings.values() for binding in bindings]]
    inside = [binding.module for binding in imports if binding.module and binding.module.startswith(f"{package}.")]
    return list(dict.fromkeys(module.removeprefix(f"{package}.").partition(".")[0] for module in inside))


def _bring(
    scope: Scope, module: str, star: Binding, offered: Mapping[str, Sequence[Binding]], exported: Sequence[str]
) -> bool:
    """Adds what one star import brings; True when a name was new."""
    is_new = False
    for name in exported:
        sources = offered.get(name, ())
        if sources and all(source.module == module and source.member == name for source in sources):
            continue  # the other module only has it from this one
        known = scope.bindings.setdefault(name, [])
        if not any(binding.start == star.start and binding.module == star.module for binding in known):
            known.append(replace(star, member=name))
            known.sort(key=lambda binding: binding.start)
            is_new = True
    return is_new


def listed_exports(parsed: ParsedFile) -> list[str] | None:
    """The names in the module's `__all__`; None when it has none, or not one of literals at the top level alone."""
    names: list[str] | None = None
    unexplained = parsed.data.count(b"__all__")
    for statement in parsed.tree.root_node.named_children:
        node = statement.named_children[0] if statement.type == "expression_statement" else statement
        target = node.child_by_field_name("left") or node.child_by_field_name("function")
        value = node.child_by_field_name("right") or node.child_by_field_name("arguments")
        if target is None or value is None or parsed.text(target) not in _ADDING:
            continue
        try:
            found = ast.literal_eval(parsed.text(value))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        if isinstance(found, str):  # the argument of `append`
            found = [found]
        if not isinstance(found, list | tuple) or not all(isinstance(name, str) for name in found):
            return None
        names = [*found] if node.type == "assignment" else [*(names or []), *found]
        unexplained -= 1
    return names if not unexplained else None
