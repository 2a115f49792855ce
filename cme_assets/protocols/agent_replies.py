"""What an agent's reply asks for: to run a script, or nothing more.

Replies are hostile text: nothing here raises, and the time taken grows in proportion to the length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from resources.llm.answer import Answer
from resources.llm.bodies import is_writable
from resources.llm.request import Message

FENCE = "```"
PYTHON = ("", "python", "py", "python3")
BAD_CALL = 'The call had no script. Call run_script with {"script": "…"}.'


@dataclass(frozen=True)
class Wish:
    """A `script` to run, or a `complaint` to send back, or neither: then the agent has finished."""

    script: str | None = None
    complaint: str | None = None


def last_script(text: str) -> str | None:
    """The last fenced Python block that is not empty; one that is never closed ends with the text."""
    found: str | None = None
    block: list[str] | None = None
    fence = is_python = ""
    for line in text.split("\n"):
        mark = line.strip()
        if block is None:
            if mark.startswith(FENCE):
                is_python = "yes" if mark.lstrip("`").strip().lower() in PYTHON else ""
                fence, block = mark[: len(mark) - len(mark.lstrip("`"))], []
        elif mark.startswith(fence) and not mark.strip("`"):
            found, block = _chosen(block, is_python, found), None
        else:
            block.append(line)
    return found if block is None else _chosen(block, is_python, found)


def _chosen(block: list[str], is_python: str, before: str | None) -> str | None:
    code = "\n".join(block)
    return code + "\n" if is_python and code.strip() else before


def wish(answer: Answer, last_run: str | None) -> Wish:
    """What a reply wants. A fenced script counts beside tools too, unless it is the one that has just run."""
    if answer.tool_calls:
        script = _argument(answer.tool_calls[0])
        return Wish(script) if script else Wish(complaint=BAD_CALL)
    script = last_script(answer.text)
    return Wish() if script == last_run else Wish(script)


def continued(answer: Answer, report: str) -> list[Message]:
    """The messages that carry the conversation on: the reply as it was, and what came of it."""
    if not answer.tool_calls:
        return [{"role": "assistant", "content": answer.text}, {"role": "user", "content": report}]
    calls = [_call(call, number) for number, call in enumerate(answer.tool_calls)]
    said: Message = {"role": "assistant", "content": answer.text or None, "tool_calls": calls}
    others = "Not run: one script at a time."
    return [
        said,
        *(
            {"role": "tool", "tool_call_id": call["id"], "content": others if number else report}
            for number, call in enumerate(calls)
        ),
    ]


def _argument(call: Mapping[str, Any]) -> str | None:
    script = _arguments(call).get("script")
    return script if isinstance(script, str) and script.strip() else None


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    text = function.get("arguments") if isinstance(function, Mapping) else None
    try:
        arguments = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        arguments = None
    return arguments if isinstance(arguments, dict) else {}


def _call(call: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A call as it may be sent back: providers refuse arguments that are not JSON, and their own fields stay."""
    call = call if isinstance(call, Mapping) else {}
    own, function = _sendable(call), _sendable(call.get("function"))
    name, arguments = function.get("name"), function.get("arguments")
    return {
        **own,
        "id": str(own.get("id") or f"call_{number}"),
        "type": "function",
        "function": {
            **function,
            "name": str(name or "run_script"),
            "arguments": arguments if _arguments(call) and _is_json(arguments) else "{}",
        },
    }


def _sendable(fields: Any) -> Mapping[str, Any]:
    """Those of `fields` that a request can carry; none where it is no mapping."""
    fields = fields if isinstance(fields, Mapping) else {}
    return {name: value for name, value in fields.items() if is_writable(value)}


def _is_json(text: Any) -> bool:
    """Whether `text` is JSON that another provider's form of the request can carry as such."""
    try:
        return is_writable(orjson.loads(text))
    except orjson.JSONDecodeError:
        return False
