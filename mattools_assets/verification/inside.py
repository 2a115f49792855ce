"""Runs inside the sandbox: gives an answer, rebuilt from typed JSON, to a published verification function.

Shipped as text and executed there beside `answer.json`, `verification.py` and `typed_values.py`, the project's decoder.
The answer's process ended before this one began, and what crossed is data: nothing of it can touch the function.
"""

import cmath
from pathlib import Path
from typing import Any

ELEMENT, OTHER = "element", "other"
TAG = "condmat-evals object"
MAX_MESSAGE = 500
NUMBERS = (int, float, complex)


class Foreign:
    """Stands for an object that is not rebuilt: equal to nothing but itself."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


def rebuilt(value: Any) -> Any:
    """`value` with the tagged tuples of `transport.portable` turned back: chemical elements, and Foreign for others."""
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str) and value[0] == TAG:
        if value[1] == ELEMENT:
            from pymatgen.core import Element

            return Element(value[2])
        return Foreign(value[2])
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(rebuilt(item) for item in value)
    if isinstance(value, dict):
        return {rebuilt(key): rebuilt(item) for key, item in value.items()}
    return value


def unlike(value: Any, expected: Any) -> bool:
    """Whether a value that passed is no answer all the same.

    numpy's comparison holds for every array of no elements and broadcasts one number over many; infinity is above
    any bound; and True equals 1.
    """
    wanted, got = leaves(expected), leaves(value)
    if not all(isinstance(one, NUMBERS) for one in wanted):
        return False  # compared by equality
    if len(got) != len(wanted) or not all(isinstance(one, NUMBERS) for one in got):
        return True
    return any(
        isinstance(one, bool) != isinstance(other, bool) or _is_finite(one) != _is_finite(other)
        for one, other in zip(got, wanted, strict=True)
    )


def leaves(value: Any) -> list[Any]:
    """The items of nested, possibly ragged, lists, tuples and arrays in one list."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def _is_finite(number: complex) -> bool:
    return isinstance(number, int) or cmath.isfinite(number)


def verdict(function_name: str, strict: bool) -> dict[str, Any]:
    """What the verification function says: whether all is well, its messages and two counts, or how it failed.

    `strict` adds a message for each property that passed but is `unlike` the value in `reference.py`.
    """
    import typed_values

    answer = rebuilt(typed_values.decode(Path("answer.json").read_bytes()))
    try:
        said = _defined("verification.py", function_name)(answer)
    except Exception as error:
        return {"crash": f"{type(error).__name__}: {error}"[:MAX_MESSAGE]}
    *said_messages, wrong, total = (0, 0) if isinstance(said, str) else said
    messages = [str(message)[:MAX_MESSAGE] for message in said_messages]
    if strict:
        expected = _defined("reference.py", "reference_answer")()
        named = [name for name in expected if name in answer and unlike(answer[name], expected[name])]
        messages += [f"{name}: Expected {expected[name]!r:.200}, got {answer[name]!r:.200}" for name in named]
    return {
        "ok": isinstance(said, str) and said == "ok" and not messages,
        "messages": messages,
        "wrong": int(wrong),
        "total": int(total),
    }


def _defined(file: str, name: str) -> Any:
    """What a file of the work folder defines as `name`."""
    namespace: dict[str, Any] = {"__name__": Path(file).stem}
    exec(compile(Path(file).read_text(), file, "exec"), namespace)
    return namespace[name]
