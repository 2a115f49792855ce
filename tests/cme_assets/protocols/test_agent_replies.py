"""What is read out of an agent's replies, hostile ones included."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from cme_assets.protocols.agent_replies import continued, last_script, wish
from resources.llm.answer import Answer
from resources.llm.providers import provider_of, wire
from resources.llm.request import ChatRequest
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from tests.timing import in_proportion


def answer(text: str = "", *calls: Any) -> Answer:
    return Answer(ChatRequest([]), "", Status.OK, text, tool_calls=calls)


def call(arguments: object, name: str = "run_script") -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("```python\na = 1\n```", "a = 1\n"),
        ("```\na = 1\n```", "a = 1\n"),
        ("```Python\na = 1\n```\nthen\n```py\nb = 2\n```", "b = 2\n"),
        ("```python\na = 1\n```\n```json\n{}\n```\n```bash\nls\n```", "a = 1\n"),
        ("  ```python\n  a = 1\n  ```", "  a = 1\n"),
        ("````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''\n"),
        ("```python\nnever closed", "never closed\n"),
        ("```python\n\n```", None),
        ("a = 1", None),
        ("", None),
    ],
)
def test_the_last_python_block_counts(text: str, script: str | None) -> None:
    assert last_script(text) == script


@pytest.mark.parametrize("part", ["```", "```python\n", "`", "\n```\n", "``` "])
def test_no_reply_takes_longer_to_read_than_its_length_warrants(part: str) -> None:
    assert in_proportion(last_script, part)


def test_a_call_is_preferred_and_a_repeated_block_is_an_ending() -> None:
    assert wish(answer("```python\na\n```", call('{"script": "b"}')), None).script == "b"
    assert wish(answer("```python\na\n```"), None).script == "a\n"
    assert wish(answer("```python\na\n```"), "a\n").script is None
    assert wish(answer("nothing"), "a\n").complaint is None


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", "null", "3", '{"script": null}', '{"code": "a"}', None, 3, "[" * 9999]
)
def test_arguments_that_are_none_are_complained_about_and_sent_back_valid(arguments: object) -> None:
    given = answer("", call(arguments))
    assert wish(given, None).complaint
    said, told = continued(given, "the report")
    assert isinstance(json.loads(said["tool_calls"][0]["function"]["arguments"]), dict)
    assert told == {"role": "tool", "tool_call_id": "call_1", "content": "the report"}


@pytest.mark.parametrize("junk", [{}, "text", 3, None, {"function": None}, {"id": 3, "function": {"name": None}}])
def test_calls_without_form_do_no_harm(junk: Any) -> None:
    given = answer("", junk, junk)
    assert wish(given, None).complaint
    messages = continued(given, "the report")
    identities = [each["id"] for each in messages[0]["tool_calls"]]
    assert [message["tool_call_id"] for message in messages[1:]] == identities
    assert all(isinstance(identity, str) for identity in identities)


def test_every_call_is_answered_and_a_providers_own_fields_come_back() -> None:
    first = call('{"script": "a"}') | {"extra_content": {"signature": "s"}}
    second = call('{"script": "b"}') | {"id": "call_2"}
    said, report, refused = continued(answer("", first, second), "the report")
    assert said["tool_calls"] == [first, second]
    assert (report["tool_call_id"], report["content"]) == ("call_1", "the report")
    assert (refused["tool_call_id"], refused["content"]) == ("call_2", "Not run: one script at a time.")


def nested(depth: int) -> Any:
    return [] if depth == 0 else [nested(depth - 1)]


# What is read may be nested deeper, and have longer numbers, than what is written.
UNWRITABLE = [nested(300), 10**30, "\ud83d", {1: "x"}, {"x": b""}]


@pytest.mark.parametrize("value", UNWRITABLE, ids=["nested", "long number", "half a pair", "key", "bytes"])
def test_what_no_request_can_carry_is_not_sent_back(value: Any) -> None:
    good = call('{"script": "a"}')
    given = good | {"more": value, "function": {**good["function"], "more": value}}
    assert continued(answer("", given), "the report")[0]["tool_calls"] == [good]
    odd = call('{"script": "a"}', value) | {"id": value}
    orjson.dumps({"messages": continued(answer("", odd), "the report")})


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic"])
@pytest.mark.parametrize(
    "arguments",
    ['{"script": "a"}', "{", None, '{"script": NaN}', '{"script": "a", "x": ' + "[" * 300 + "]" * 300 + "}"],
    ids=["good", "broken", "none", "no number", "nested"],
)
def test_both_providers_can_write_the_next_request(provider: str, arguments: object) -> None:
    entry = ModelEntry.model_validate(
        {"name": "m", "provider": provider, "model": "m", "base_url": "http://127.0.0.1:1", "key_env": "KEY"}
    )
    opening = {"role": "user", "content": "do"}
    request = ChatRequest([opening, *continued(answer("", call(arguments)), "report")])
    body = wire(provider_of(entry), entry, request).body
    roles = [message["role"] for message in body["messages"]]
    assert roles == (["user", "assistant", "user"] if provider == "anthropic" else ["user", "assistant", "tool"])
