"""Documents: what is asked, in which order, what is kept, and what a change or a failure touches."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mattools_assets.docs.graph import CodeGraph, Documented, read_graph
from mattools_assets.docs.identity import document_identities
from mattools_assets.docs.prompts import clip, document_prompt, own_code
from mattools_assets.docs.tables import LLM_DOCS, documents_table, read_documents
from mattools_assets.docs.writing import (
    Document,
    Reply,
    State,
    docstring_documents,
    signature_documents,
    write_documents,
)
from mattools_assets.source.project import analyse
from resources.outcomes import Status
from resources.tokens import count_tokens

# top -> middle -> low; other -> low; even <-> odd; alone
PACKAGE = '''
def low(x):
    """Lowest."""
    return x

def middle(x): return low(x) + 1

def top(x): return middle(x) * 2

def other(x): return low(x)

def even(n): return n == 0 or odd(n - 1)

def odd(n): return n != 0 and even(n - 1)

def alone(): return None
'''


def graph_of(folder: Path, text: str) -> CodeGraph:
    folder.mkdir(exist_ok=True)
    (folder / "m.py").write_text(text, encoding="utf-8")
    project = analyse(folder)
    return read_graph(project.code_objects(), project.reference_table())


class Model:
    """A model that answers with what it was asked, notes the order, and fails where and as often as it is told to."""

    def __init__(
        self, fails: frozenset[str] = frozenset(), status: Status = Status.PROVIDER_ERROR, times: int = 1_000
    ) -> None:
        self.fails = fails
        self.times = times
        self.status = status
        self.asked: list[str] = []
        self.prompts: list[str] = []

    async def __call__(self, item: Documented, prompt: str) -> Reply:
        self.asked.append(item.qualified_name)
        self.prompts.append(prompt)
        await asyncio.sleep(0)
        if item.qualified_name in self.fails and self.asked.count(item.qualified_name) <= self.times:
            return Reply(self.status, error="no luck")
        return Reply(Status.OK, f" Purpose of {item.qualified_name}. ")


def write(graph: CodeGraph, model: Model, known: dict[str, Document] | None = None, depth: int = 1):
    identities = document_identities(graph, "1", depth)
    return asyncio.run(write_documents(graph, identities, (known or {}).values(), model, budget=2000))


def states(documents: dict[str, Document]) -> dict[str, str]:
    return {object_id.split(":")[1]: document.state.value for object_id, document in documents.items()}


def test_callees_come_first_and_are_shown_by_their_documents(tmp_path: Path) -> None:
    model = Model()
    documents = write(graph_of(tmp_path, PACKAGE), model)
    assert set(states(documents).values()) == {"written"}
    order = {name: place for place, name in enumerate(model.asked)}
    assert order["low"] < order["middle"] < order["top"]
    assert order["low"] < order["other"]
    shown = dict(zip(model.asked, model.prompts, strict=True))
    assert "Purpose of low." in shown["middle"]
    assert "Purpose of middle." in shown["top"]
    assert "Purpose of odd." not in shown["even"]  # a cycle is written together, from heads
    assert "def odd(n)" in shown["even"]
    assert documents["m.py:low:2"].text == "Purpose of low."


@pytest.mark.parametrize(
    ("old", "new", "depth", "expected"),
    [
        ("return x\n", "return +x\n", 0, {"low"}),
        ("return x\n", "return +x\n", 1, {"low", "middle", "other"}),
        ("return x\n", "return +x\n", 2, {"low", "middle", "other", "top"}),
        ("middle(x) * 2", "middle(x) * 3", 2, {"top"}),
        ("n == 0 or", "n < 1 or", 1, {"even", "odd"}),
        ("\ndef low", "\nA_LINE_THAT_MOVES_ALL_BELOW = 1\n\ndef low", 2, set()),
        ("return low(x)\n", "return x\n", 1, {"other"}),
    ],
)
def test_a_change_reaches_exactly_its_affected_set(
    tmp_path: Path, old: str, new: str, depth: int, expected: set[str]
) -> None:
    assert PACKAGE.count(old) == 1
    before = write(graph_of(tmp_path, PACKAGE), Model(), depth=depth)
    model = Model()
    after = write(graph_of(tmp_path, PACKAGE.replace(old, new)), model, before, depth)
    assert set(model.asked) == expected
    assert set(states(after).values()) == {"written"}


def test_a_failure_holds_back_its_callers_and_no_one_else(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, PACKAGE)
    first = write(graph, Model(frozenset({"low"})))
    assert states(first) == {
        "low": "failed",
        "middle": "waiting",
        "top": "waiting",
        "other": "waiting",
        "even": "written",
        "odd": "written",
        "alone": "written",
    }
    model = Model()
    second = write(graph, model, first)
    assert sorted(model.asked) == ["low", "middle", "other", "top"]
    assert set(states(second).values()) == {"written"}


@pytest.mark.parametrize("status", [Status.REFUSED, Status.EMPTY, Status.CONTEXT_OVERFLOW])
def test_what_the_model_will_not_write_is_stood_in_for(tmp_path: Path, status: Status) -> None:
    graph = graph_of(tmp_path, PACKAGE)
    model = Model(frozenset({"low"}), status)
    documents = write(graph, model)
    assert documents["m.py:low:2"].state is State.SUBSTITUTE
    assert documents["m.py:low:2"].text == "def low(x)\nLowest."
    assert states(documents)["top"] == "written"
    again = Model()
    write(graph, again, documents)
    assert again.asked == []


def random_package(count: int, seed: int) -> str:
    """Functions that call up to three earlier ones each."""
    draw = random.Random(seed)
    lines = []
    for n in range(count):
        calls = [f"f{draw.randrange(n)}()" for _ in range(draw.randrange(4))] if n else []
        lines.append(f"def f{n}(): return [{', '.join(calls)}]")
    return "\n".join(lines)


def test_a_failure_that_passes_is_made_good_in_the_same_run(tmp_path: Path) -> None:
    model = Model(frozenset({"low", "top"}), times=1)
    documents = write(graph_of(tmp_path, PACKAGE), model)
    assert set(states(documents).values()) == {"written"}
    assert Counter(model.asked) == Counter(["low", "low", "middle", "top", "top", "other", "even", "odd", "alone"])


def test_a_hopeless_object_is_asked_for_twice_in_a_run(tmp_path: Path) -> None:
    model = Model(frozenset({"low"}))
    write(graph_of(tmp_path, PACKAGE), model)
    assert model.asked.count("low") == 2


def test_random_packages_are_written_callees_first(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, random_package(300, 1))
    draw = random.Random(2)
    failing = frozenset(f"f{n}" for n in range(300) if draw.random() < 0.2)
    model = Model(failing, times=1)
    documents = write(graph, model)
    assert set(states(documents).values()) == {"written"}
    done = {name: place for place, name in enumerate(model.asked)}
    begun = {name: model.asked.index(name) for name in done}
    for caller, callees in graph.waits_for.items():
        for callee in callees:
            assert done[callee.split(":")[1]] < begun[caller.split(":")[1]]
    assert Counter(model.asked).total() == 300 + len(failing)


def test_progress_counts_every_object(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    graph = graph_of(tmp_path, PACKAGE)
    asyncio.run(
        write_documents(
            graph,
            document_identities(graph, "1"),
            [],
            Model(),
            progress=lambda counts, total: seen.append((sum(counts.values()), total)),
        )
    )
    assert seen == [(n, 7) for n in range(1, 8)]


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400), st.integers(0, 60))
def test_a_clip_fits_and_is_a_beginning(text: str, tokens: int) -> None:
    clipped = clip(text, tokens)
    assert count_tokens(clipped) <= tokens
    assert "\n".join(text.splitlines()).startswith("\n".join(clipped.splitlines()))


@pytest.mark.parametrize("budget", [500, 800, 2000])
def test_prompts_stay_within_the_budget(tmp_path: Path, budget: int) -> None:
    long = "\n".join(f"    x{n} = low({n}) + middle({n})" for n in range(400))
    methods = "\n".join(
        f'    def m{n}(self, a: int) -> str:\n        """Does {n}."""\n        return a' for n in range(200)
    )
    text = f"{PACKAGE}\ndef long():\n{long}\n    return 'the end'\nclass Large:\n    '''Large one.'''\n{methods}\n"
    graph = graph_of(tmp_path, text)
    documents = dict.fromkeys(graph.objects, "word " * 1000)
    for item in graph.objects.values():
        assert count_tokens(document_prompt(item, graph, documents, budget)) <= budget


def test_long_code_keeps_both_ends_and_a_large_class_its_outline(tmp_path: Path) -> None:
    body = "\n".join(f"    x{n} = {n}" for n in range(300))
    methods = "\n".join(f'    def m{n}(self):\n        """Does {n}."""\n{body}' for n in range(3))
    graph = graph_of(tmp_path, f"def long():\n{body}\n    return 1\nclass Large:\n    '''About.'''\n{methods}\n")
    long, large = (item for item in graph.objects.values() if item.qualified_name in ("long", "Large"))
    shown = own_code(long, graph, 200)
    assert shown.startswith("def long():")
    assert shown.endswith("return 1")
    assert "lines left out" in shown
    outline = own_code(large, graph, 300)
    assert "About." in outline
    assert "def m2(self): ...  # Does 2." in outline
    assert "x0 = 0" not in outline


def test_keyless_documents(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, PACKAGE)
    identities = document_identities(graph, "1")
    assert [document.text for document in docstring_documents(graph, identities).values()] == [
        "low (m.py)\ndef low(x)\n\nLowest."
    ]
    signatures = signature_documents(graph, identities)
    assert len(signatures) == 7
    assert signatures["m.py:alone:16"].text == "alone (m.py)\ndef alone()"


def test_documents_survive_the_table(tmp_path: Path) -> None:
    documents = write(graph_of(tmp_path, PACKAGE), Model(frozenset({"alone", "low"})))
    table = documents_table("a-model", documents.values())
    assert LLM_DOCS.fault(table) is None
    assert read_documents(table) == documents
