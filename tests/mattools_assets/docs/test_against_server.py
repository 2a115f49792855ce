"""Documents through the real client and ledger, from a server that fails."""

from __future__ import annotations

import asyncio
import random
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from mattools_assets.docs.asking import asking
from mattools_assets.docs.graph import CodeGraph, read_graph
from mattools_assets.docs.identity import document_identities
from mattools_assets.docs.writing import Document, State, write_documents
from mattools_assets.source.project import analyse
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.retry import RetryPolicy
from resources.model_entry import ModelEntry, Parameters

# The servers are shared by tests of several packages, and no package installs them.
sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.servers.faulty import FaultyServer, running

OBJECTS = 2000
TRIES = 2
POLICY = RetryPolicy(errors=TRIES, rejections=6, first_wait=0.01, longest_wait=0.05, try_seconds=30)


def package_with_faults(folder: Path) -> tuple[CodeGraph, set[str]]:
    """Functions that call up to three earlier ones, and the names of those for which the server fails at first.

    These are 5 %. Of the functions that call none they fail for a whole run, of others for one asking of it.
    """
    draw = random.Random(1)
    lines, failing = [], set()
    for n in range(OBJECTS):
        calls = [f"f{draw.randrange(n)}()" for _ in range(draw.randrange(4))] if n else []
        mark = ""
        if draw.random() < 0.05:
            failing.add(f"f{n}")
            mark = f"  # [fault:server_error*{TRIES if calls else 2 * TRIES}]"
        lines.append(f"def f{n}():\n    return [{', '.join(calls)}]{mark}")
    (folder / "m.py").write_text("\n".join(lines), encoding="utf-8")
    project = analyse(folder)
    return read_graph(project.code_objects(), project.reference_table()), failing


async def materialise(graph: CodeGraph, known: dict[str, Document], entry: ModelEntry, url: str) -> dict[str, Document]:
    with Ledger(url) as ledger:
        async with Client(entry, ledger, {}, policy=POLICY) as client:
            return await write_documents(
                graph, document_identities(graph, "1"), known.values(), asking(client, 48), budget=1500
            )


@pytest.mark.slow
def test_two_thousand_objects_are_complete_after_one_more_run(tmp_path: Path) -> None:
    graph, failing = package_with_faults(tmp_path)
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    server = FaultyServer()
    with running(server) as address:
        entry = ModelEntry(
            name="mock",
            provider="openai_compatible",
            model="m",
            base_url=f"{address}/v1",
            free=True,
            max_concurrency=16,
            parameters=Parameters(max_output_tokens=100),
        )
        first = asyncio.run(materialise(graph, {}, entry, url))
        second = asyncio.run(materialise(graph, first, entry, url))
    states = Counter(document.state for document in first.values())
    assert 80 < len(failing) < 120
    assert states[State.FAILED] > 10
    assert states[State.WAITING] > 0
    assert {document.state for document in second.values()} == {State.WRITTEN}
    assert len(second) == OBJECTS

    assert set(server.log.answered.values()) == {1}  # no prompt was answered twice
    assert len(server.log.answered) == OBJECTS
    names = [re.search(r"The function `(\w+)`", prompt)[1] for _, prompt in server.log.asked]  # type: ignore[index]
    tries = Counter(names)
    assert {name for name, count in tries.items() if count > 1} == failing
    last = {name: place for place, name in enumerate(names)}
    beginning = {name: names.index(name) for name in last}
    for caller, callees in graph.waits_for.items():
        for callee in callees:
            assert last[callee.split(":")[1]] < beginning[caller.split(":")[1]]
