"""Mutated solutions: the reference solution with one property spoiled after it was calculated.

Verification is only worth something when it rejects each of them. Every property has two: one whose value a machine
moved out of its tolerance, and one with the near miss that is written beside the property.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mattools_assets.questions import perturbing
from mattools_assets.questions.own import Property
from mattools_assets.systems.replies import Function

NAME = "mutated_solution"


def moved(solution: Function, item: Property) -> Function:
    """The solution with the property out of its tolerance."""
    code = Path(perturbing.__file__).read_text(encoding="utf-8")
    return _spoiled(solution, item, code, f"perturbed(answer[{item.name!r}], {item.expected.tolerance!r})")


def near_miss(solution: Function, item: Property) -> Function:
    """The solution with the property's declared near miss, as an object of the right type."""
    imports = "import numpy as np\nfrom pymatgen.core import Composition, Lattice, Structure"
    return _spoiled(solution, item, imports, expression(item.expected.type, item.mutant))


def expression(type_name: str, value: Any) -> str:
    """Python that makes `value`, as question files write it, an object of the type."""
    if type_name == "structure":
        elements, positions = [site[0] for site in value["sites"]], [site[1:] for site in value["sites"]]
        return f"Structure(Lattice.from_parameters(*{value['cell']!r}), {elements!r}, {positions!r})"
    if type_name == "composition":
        return f"Composition({value!r})"
    if type_name.startswith("set of "):
        return f"set({value!r})"
    if type_name.startswith("array of "):
        return f"np.array({value!r}, dtype={type_name.removeprefix('array of ')})"
    return repr(value)


def _spoiled(solution: Function, item: Property, before: str, wrong: str) -> Function:
    source = f"{solution.source}\n\n{before}\n\ndef {NAME}():\n    answer = {solution.name}()\n"
    return Function(f"{source}    answer[{item.name!r}] = {wrong}\n    return answer\n", NAME)
