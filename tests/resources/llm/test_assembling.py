"""Streams become the very bodies that the same requests without streaming would have got."""

from __future__ import annotations

from typing import Any

import pytest

from resources.llm.outcome import MalformedReply
from resources.llm.providers.anthropic_messages import AnthropicAssembler
from resources.llm.providers.openai_chat import OpenAIAssembler


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def part(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments} | more}


def test_chat_completions() -> None:
    assembler = OpenAIAssembler()
    assembler.add(chunk(role="assistant", content=""))
    assert not assembler.has_begun
    for delta in ({"reasoning_content": "so "}, {"reasoning_content": "far"}, {"content": "a"}, {"content": "b"}):
        assembler.add(chunk(**delta))
        assert assembler.has_begun
    assembler.add(chunk(tool_calls=[part(1, "{", name="g") | {"id": "y"}, part(0, '{"x"', name="f") | {"id": "x"}]))
    assembler.add(chunk(tool_calls=[part(0, ": 1}"), part(1, "}")]))
    with pytest.raises(MalformedReply):
        assembler.body()
    assembler.add(chunk("tool_calls"))
    assert assembler.body() == {
        "id": "c",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "ab",
                    "reasoning_content": "so far",
                    "tool_calls": [
                        {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                        {"id": "y", "type": "function", "function": {"name": "g", "arguments": "{}"}},
                    ],
                },
            }
        ],
    }


def test_messages() -> None:
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [{"thinking": "so "}, {"thinking": "far"}, {"signature": "s"}],
        ),
        ({"type": "text", "text": "a"}, [{"text": "b"}, {"text": "c"}]),
        ({"type": "tool_use", "id": "x", "input": {}}, [{"partial_json": '{"x"'}, {"partial_json": ": 1}"}]),
        ({"type": "tool_use", "id": "y", "input": {}}, [{"partial_json": ""}]),
        ({"type": "tool_use", "id": "z", "input": {}}, [{"partial_json": '{"cut'}]),
    ]
    assembler = AnthropicAssembler()
    assembler.add({"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 3}}})
    assert not assembler.has_begun
    for index, (block, deltas) in enumerate(blocks):
        assembler.add({"type": "content_block_start", "index": index, "content_block": block})
        for delta in deltas:
            assembler.add({"type": "content_block_delta", "index": index, "delta": delta})
    with pytest.raises(MalformedReply):
        assembler.body()
    assembler.add({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}})
    assembler.add({"type": "message_stop"})
    assert assembler.body() == {
        "id": "m",
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 5},
        "content": [
            {"type": "thinking", "thinking": "so far", "signature": "s"},
            {"type": "text", "text": "abc"},
            {"type": "tool_use", "id": "x", "input": {"x": 1}},
            {"type": "tool_use", "id": "y", "input": {}},
            {"type": "tool_use", "id": "z", "input": '{"cut'},
        ],
    }
