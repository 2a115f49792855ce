"""The system graph-rag: the real LightRAG between a scripted server and the ledger."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mattools_assets.systems.base import ToolAnswer
from mattools_assets.systems.catalogue import SYSTEMS
from resources.lake import Lake
from resources.outcomes import Status
from tests.mattools_assets.systems.performing import (
    FUNCTION,
    all_in_ledger,
    ledger_rows,
    perform,
    replied,
    small_library,
)
from tests.servers.scripted import ScriptedServer, Turn, running

pytestmark = [pytest.mark.live]

GRAPH = """entity<|#|>Lattice<|#|>class<|#|>A lattice of three lengths
entity<|#|>cubic<|#|>function<|#|>Makes a cubic lattice
relation<|#|>cubic<|#|>Lattice<|#|>returns<|#|>cubic returns a Lattice
<|COMPLETE|>"""
KEYWORDS = '{"high_level_keywords": ["volume of a lattice"], "low_level_keywords": ["Lattice", "cubic"]}'
# LightRAG reads documents by a system prompt, and asks for keywords and is asked for functions by a user's.
PLAY = {"Knowledge Graph": [GRAPH], "expert keyword extractor": [KEYWORDS], "You write Python": [replied()]}
DOCUMENTS = 4


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    if importlib.util.find_spec("lightrag") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            "LightRAG is not installed; run `make graph-rag`"
        )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return small_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def server() -> Iterator[tuple[ScriptedServer, str]]:
    scripted = ScriptedServer({key: [Turn(text) for text in texts] for key, texts in PLAY.items()})
    with running(scripted) as address:
        yield scripted, address


async def answered(library: Lake, address: str, folder: Path, repeat: int = 0) -> ToolAnswer:
    return await perform(SYSTEMS["graph-rag"], library, address, folder, workspace=folder / "graphs", repeat=repeat)


async def test_two_requests_a_question_and_the_graph_once(
    library: Lake, server: tuple[ScriptedServer, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(host: object, *_more: object, **_named: object) -> object:
        raise AssertionError(f"asked for {host}")

    scripted, address = server
    # Nothing is downloaded; the server's address is a number and needs no look-up of a name elsewhere.
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: (real if host == "127.0.0.1" else refuse)(host, *rest, **more),
    )
    answer = await answered(library, address, tmp_path)
    assert (answer.status, answer.error) == (Status.OK, "")
    assert answer.function is not None
    assert answer.function.source == FUNCTION
    assert [each.step for each in answer.asked] == ["keywords", "answer"]
    assert SYSTEMS["graph-rag"].requests == (2, 2)
    assert all_in_ledger(answer, tmp_path)
    assert len(scripted.bodies) == len(ledger_rows(tmp_path)) == DOCUMENTS + 2
    assert sum(row["purpose"] == "graph-rag index" for row in ledger_rows(tmp_path)) == DOCUMENTS
    prompt = scripted.bodies[-1]["messages"][0]["content"]
    assert "cubic returns a Lattice" in prompt
    titles = {chunk.title for chunk in answer.retrieved}
    assert "Lattice (class)" in titles
    assert titles & {"cubic – Lattice", "Lattice – cubic"}
    assert "crystals/lattice.py:cubic:16" in {chunk.document_id for chunk in answer.retrieved}

    again = await answered(library, address, tmp_path)
    repeated = await answered(library, address, tmp_path, repeat=1)
    assert again.function == repeated.function == answer.function
    assert len(scripted.bodies) == DOCUMENTS + 4


def test_a_graph_outlives_its_event_loop(library: Lake, server: tuple[ScriptedServer, str], tmp_path: Path) -> None:
    scripted, address = server
    for repeat in range(3):
        answer = asyncio.run(answered(library, address, tmp_path, repeat))
        assert answer.status is Status.OK, answer.error
    assert len(scripted.bodies) == DOCUMENTS + 2 * 3


def test_a_provider_that_fails_while_the_graph_is_built_is_no_answer(library: Lake, tmp_path: Path) -> None:
    failing = ScriptedServer({"You write Python": [Turn(replied())]})  # refuses all that LightRAG asks
    with running(failing) as address:
        answer = asyncio.run(answered(library, address, tmp_path))
    assert answer.status is Status.PROVIDER_ERROR
    assert answer.asked == ()


async def test_a_graph_of_nonsense_still_gives_an_answer(library: Lake, tmp_path: Path) -> None:
    """A model that names no entity at all has an empty graph, which is its own doing."""
    texts = {**PLAY, "Knowledge Graph": ["I would rather not."], "expert keyword extractor": ["none"]}
    scripted = ScriptedServer({key: [Turn(text[0] if isinstance(text, list) else text)] for key, text in texts.items()})
    with running(scripted) as address:
        answer = await answered(library, address, tmp_path)
    assert answer.status is Status.OK, answer.error
    assert len(answer.asked) == 2
