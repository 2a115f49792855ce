"""Runs inside the sandbox: gives an answer, rebuilt from typed JSON, to a published verification function.

Shipped as text and executed there beside `answer.json`, `verification.py` and `typed_values.py`, the project's decoder.
The answer's process ended before this one began, and what crossed is data: nothing of it can touch the function.
"""

from pathlib import Path
from typing import Any

ELEMENT, OTHER = "element", "other"
TAG = "condmat-evals object"
MAX_MESSAGE = 500


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


def verdict(function_name: str) -> dict[str, Any]:
    """What the verification function says: `ok`, or its messages and two counts, or how it failed."""
    import typed_values

    answer = rebuilt(typed_values.decode(Path("answer.json").read_bytes()))
    namespace: dict[str, Any] = {"__name__": "verification"}
    exec(compile(Path("verification.py").read_text(), "verification.py", "exec"), namespace)
    try:
        said = namespace[function_name](answer)
    except Exception as error:
        return {"crash": f"{type(error).__name__}: {error}"[:MAX_MESSAGE]}
    if isinstance(said, str):
        return {"ok": said == "ok", "messages": [], "wrong": 0, "total": 0}
    *messages, wrong, total = said
    return {
        "ok": False,
        "messages": [str(message)[:MAX_MESSAGE] for message in messages],
        "wrong": int(wrong),
        "total": int(total),
    }
