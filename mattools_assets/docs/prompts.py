"""What a model is asked to document: the object, and what is known of its callees and callers, within a token budget.

The way is RepoAgent's (arXiv:2402.16667): callees are explained by their documents, which exist by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mattools_assets.docs.graph import CodeGraph, Documented
from mattools_assets.source.tree import Kind
from resources.tokens import count_tokens

PROMPT_VERSION = "1"
CODE_SHARE = 0.6
"""Most of the budget that the object's own code may take; callees get what is left, callers what they leave."""
NEIGHBOUR_TOKENS = 300
"""Most that one callee or caller may take."""

INSTRUCTIONS = """You write reference documentation for a Python library. Its readers use the library in research.

Describe the object below from its code alone. Say only what the code shows; do not guess, and do not mention that you
were given code, documents or instructions. Use plain text in this form, without headings:

Purpose: one sentence.
Parameters: for a function or method each parameter with its type, unit where there is one, default and effect; for a
class its attributes. Write "none" when there are none.
Behaviour: what it does step by step, in detail, with the formulas and conventions it uses and what it calls for.
Returns: what comes back, with its type; for a class leave this line out.
Notes: limits, errors it raises, side effects, what a user should mind.
"""

_WORDS = {
    Kind.CLASS: "class",
    Kind.METHOD: "method",
    Kind.FUNCTION: "function",
    Kind.NESTED_FUNCTION: "function local to another function",
}


def document_prompt(item: Documented, graph: CodeGraph, documents: Mapping[str, str], budget: int) -> str:
    """The user message for one object, of at most `budget` tokens (o200k) including the instructions.

    `documents` are the texts known so far by object id; an object without one is shown by signature and docstring.
    """
    parts = [f"{INSTRUCTIONS}\nThe {_WORDS[item.kind]} `{item.qualified_name}` in {item.file}:\n"]
    left = budget - count_tokens(parts[0]) - 16  # the marks around the code, and joints that make tokens of their own
    code = own_code(item, graph, int(left * CODE_SHARE))
    parts.append(f"```python\n{code}\n```\n")
    left -= count_tokens(parts[-1])
    neighbours: tuple[tuple[str, Sequence[str], Callable[[Documented], str]], ...] = (
        ("It refers to:", graph.callees.get(item.object_id, ()), lambda other: _explained(other, documents)),
        ("It is used by:", graph.callers.get(item.object_id, ()), lambda other: _explained(other, documents)),
    )
    for title, ids, explain in neighbours:
        chosen, left = _within([explain(graph.objects[other]) for other in ids], title, left)
        parts += chosen
    return "\n".join(parts)


def own_code(item: Documented, graph: CodeGraph, tokens: int) -> str:
    """The object's code; where that takes more than `tokens`, a class's outline, or a function's beginning and end."""
    if count_tokens(item.code) <= tokens:
        return item.code
    if item.kind is Kind.CLASS:
        return clip(_outline(item, graph), tokens)
    lines = item.code.splitlines()
    head = clip(item.code, int(tokens * 0.75)).splitlines()
    tail = clip("\n".join(reversed(lines[len(head) :])), tokens - count_tokens("\n".join(head)) - 16).splitlines()
    left_out = len(lines) - len(head) - len(tail)
    return "\n".join([*head, f"# ... {left_out} lines left out ...", *reversed(tail)])


def clip(text: str, tokens: int) -> str:
    """The first whole lines of `text` that take no more than `tokens`; of a single longer line its beginning."""
    if count_tokens(text) <= tokens:
        return text
    lines = text.splitlines()
    kept = _longest(len(lines), lambda count: "\n".join(lines[:count]), tokens)
    if kept:
        return "\n".join(lines[:kept])
    line = lines[0][: tokens * 20] if lines and tokens > 0 else ""
    return line[: _longest(len(line), lambda count: line[:count], tokens)]


def _longest(most: int, text: Callable[[int], str], tokens: int) -> int:
    """The largest count whose text fits, by bisection."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text(middle)) <= tokens else (low, middle - 1)
    return low


def _outline(item: Documented, graph: CodeGraph) -> str:
    lines = [*[f"@{decorator}" for decorator in item.decorators], f"{item.signature}:"]
    lines += [f"    {line}" for line in (f'"""{item.docstring}"""' if item.docstring else "").splitlines()]
    for member in graph.members.get(item.object_id, ()):
        other = graph.objects[member]
        lines.append(f"    {other.signature}: ...  # {_first_line(other.docstring)}".rstrip("# "))
    return "\n".join(lines)


def _explained(other: Documented, documents: Mapping[str, str]) -> str:
    text = documents.get(other.object_id) or signature_document(other)
    return clip(f"- `{other.qualified_name}` in {other.file}:\n{text}\n", NEIGHBOUR_TOKENS)


def _within(texts: Sequence[str], title: str, left: int) -> tuple[list[str], int]:
    chosen: list[str] = []
    left -= count_tokens(title) + 2
    for text in texts:
        tokens = count_tokens(text) + 1
        if tokens > left:
            break
        chosen.append(text)
        left -= tokens
    return ([title, *chosen] if chosen else []), left


def signature_document(item: Documented) -> str:
    """What can be said of an object without a model: decorators, head, and the docstring's first line."""
    head = [*[f"@{decorator}" for decorator in item.decorators], item.signature]
    return "\n".join([*head, _first_line(item.docstring)]).rstrip()


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()
