"""Hostile text in the UI: nothing of it leaves its fence or its code span."""

from __future__ import annotations

from mattools_assets.tool_usage.shown import MARK, MAX_CELL, fenced, marked, span


def test_no_text_closes_its_fence() -> None:
    hostile = "```\n<img src=x onerror=alert(1)>\n`````\n# heading\x1b[2J"
    block = fenced(hostile, "python")
    fence = block.splitlines()[0].removesuffix("python")
    assert set(fence) == {"`"}
    assert block.splitlines()[-1] == fence
    assert all(not line.strip().startswith(fence) for line in block.splitlines()[1:-1])
    assert "\x1b" not in block


def test_no_text_leaves_its_cell() -> None:
    cell = span("a | b ` <script>\n| next | row |\u202e" + "x" * 1000)
    assert cell.count("`") == 2
    assert "|" not in cell
    assert "\n" not in cell
    assert len(cell) <= MAX_CELL + 2
    assert span("  ") == ""


def test_lines_that_make_a_result_are_marked() -> None:
    source = "def f():\n    out = {}\n    out['density'] = 1\n    return out | {\"volume\": 2}\n"
    lines = marked(source, ["density", "volume"]).splitlines()
    assert [line.endswith(MARK) for line in lines] == [False, False, True, True]
