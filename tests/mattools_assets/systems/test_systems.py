"""Each system that runs nothing, end to end against a scripted server: requests, records, statuses."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from mattools_assets.systems.agentic import read_entity, read_scores
from mattools_assets.systems.base import K
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.systems.sources import CODE, OBJECT_DOCS, OBJECT_DOCS_SPLIT, OFFICIAL_DOCS
from resources.lake import Lake
from resources.outcomes import Status
from resources.tokens import count_tokens
from tests.mattools_assets.systems.performing import (
    FUNCTION,
    QUESTION,
    all_in_ledger,
    entry,
    ledger_rows,
    perform,
    replied,
)
from tests.servers.faulty import FaultyServer
from tests.servers.faulty import running as running_faulty

from .conftest import Serve

ANYTHING = "Å?"
AGENTIC_PLAY = {
    "Name at most three": ["Lattice\ncubic"],
    "Take it apart": ["- volume of a lattice\n2. cubic lattice\nangle of a plane\nproduct of lengths"],
    "Judge how much": ['Here: {"scores": [{"number": 2, "score": 90}, {"number": 1, "score": 10.5}]}'],
    "Sketch an answer": ["Use `Lattice.volume`."],
    "Which one class": ['{"type": "class", "name": "Lattice"}'],
    "Documentation:": [replied()],
}


@pytest.mark.parametrize("name", ["single", "rag-1", "rag-2", "rag-3", "rag-4"])
async def test_one_request_gives_the_function(name: str, library: Lake, serve: Serve, tmp_path: Path) -> None:
    server, address = serve({ANYTHING: [replied()]})
    answer = await perform(SYSTEMS[name], library, address, tmp_path)
    assert answer.status is Status.OK
    assert answer.function is not None
    assert (answer.function.source, answer.function.name, answer.function.as_published) == (
        FUNCTION,
        "cell_volume",
        True,
    )
    assert SYSTEMS[name].requests == (1, 1)
    assert len(server.bodies) == len(answer.asked) == len(ledger_rows(tmp_path)) == 1
    assert all_in_ledger(answer, tmp_path)
    prompt = server.bodies[0]["messages"][0]["content"]
    assert QUESTION.text in prompt
    assert {chunk.text in prompt for chunk in answer.retrieved} <= {True}
    assert answer.cost_usd == 0


@pytest.mark.parametrize(
    ("name", "source", "best"),
    [
        ("rag-1", CODE, "crystals/lattice.py"),
        ("rag-2", OFFICIAL_DOCS, "lattice.html"),
        ("rag-3", OBJECT_DOCS_SPLIT, "crystals/lattice.py:cubic:16"),
        ("rag-4", OBJECT_DOCS, "crystals/lattice.py:cubic:16"),
    ],
)
async def test_retrieval_is_recorded(
    name: str, source: str, best: str, library: Lake, serve: Serve, tmp_path: Path
) -> None:
    _, address = serve({ANYTHING: [replied()]})
    answer = await perform(SYSTEMS[name], library, address, tmp_path)
    assert {chunk.source for chunk in answer.retrieved} == {source}
    assert answer.retrieved[0].document_id == best
    assert [chunk.rank for chunk in answer.retrieved] == list(range(1, len(answer.retrieved) + 1))
    assert 1 <= len(answer.retrieved) <= K
    assert {chunk.query for chunk in answer.retrieved} == {QUESTION.text}


async def test_agentic_retrieval_asks_nine_times_at_least(library: Lake, serve: Serve, tmp_path: Path) -> None:
    server, address = serve(AGENTIC_PLAY)
    answer = await perform(SYSTEMS["agentic-rag"], library, address, tmp_path)
    assert answer.status is Status.OK
    assert [each.step for each in answer.asked] == [
        *("keywords", "queries", "rank documents", "draft", "entity of the draft", "entity of the question"),
        *("rank all documents", "rank code", "answer"),
    ]
    assert len(server.bodies) == len(ledger_rows(tmp_path)) == SYSTEMS["agentic-rag"].requests[0] == 9
    assert all_in_ledger(answer, tmp_path)
    assert len({chunk.query for chunk in answer.retrieved}) == 4
    final = server.bodies[-1]["messages"][0]["content"]
    # The class that was looked up, with the code that no document holds.
    assert "return a * b * c" in final
    ranked = server.bodies[2]["messages"][0]["content"]
    kept = server.bodies[3]["messages"][0]["content"]
    second = ranked.split('<passage number="2">\n')[1].split("\n</passage>")[0]
    assert f'<passage number="1">\n{second}' in kept


async def test_agentic_retrieval_asks_forty_five_times_at_most(library: Lake, serve: Serve, tmp_path: Path) -> None:
    hopeless = {key: ["I would rather not say anything of a lattice."] for key in AGENTIC_PLAY}
    server, address = serve(hopeless)
    answer = await perform(SYSTEMS["agentic-rag"], library, address, tmp_path)
    assert (answer.status, answer.function) == (Status.NO_CODE, None)
    assert len(server.bodies) == len(answer.asked) == SYSTEMS["agentic-rag"].requests[1] == 45
    assert len({each.request_hash for each in answer.asked}) == len(ledger_rows(tmp_path)) == 45
    assert all_in_ledger(answer, tmp_path)


async def test_a_ranking_is_asked_for_again_until_it_can_be_read(library: Lake, serve: Serve, tmp_path: Path) -> None:
    """The server plays by the prompt alone, so that the eleventh answer is as bad as the first: the tries end."""
    _, address = serve({**AGENTIC_PLAY, "Judge how much": ['{"scores": "none"}']})
    answer = await perform(SYSTEMS["agentic-rag"], library, address, tmp_path)
    assert answer.status is Status.OK
    assert len(answer.asked) == 6 + 30


async def test_an_answered_question_is_not_asked_again(library: Lake, serve: Serve, tmp_path: Path) -> None:
    server, address = serve(AGENTIC_PLAY)
    first = await perform(SYSTEMS["agentic-rag"], library, address, tmp_path)
    again = await perform(SYSTEMS["agentic-rag"], library, address, tmp_path)
    assert len(server.bodies) == 9
    assert again.function == first.function
    assert [each.request_hash for each in again.asked] == [each.request_hash for each in first.asked]


async def test_a_stopped_run_goes_on_where_it_was(library: Lake, serve: Serve, tmp_path: Path) -> None:
    server, address = serve(AGENTIC_PLAY)
    server.silent_after = 5
    run = asyncio.create_task(perform(SYSTEMS["agentic-rag"], library, address, tmp_path))
    while len(server.bodies) < 6:
        await asyncio.sleep(0.02)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    server.silent_after = None
    answer = await perform(SYSTEMS["agentic-rag"], library, address, tmp_path)
    assert answer.status is Status.OK
    assert len(server.bodies) == 9 + 1  # the one in flight alone was asked twice


async def test_repeats_are_asked_apart(library: Lake, serve: Serve, tmp_path: Path) -> None:
    server, address = serve({ANYTHING: [replied()]})
    answers = [await perform(SYSTEMS["single"], library, address, tmp_path, repeat=repeat) for repeat in (0, 1, 1)]
    assert len(server.bodies) == 2
    assert len({answer.asked[0].request_hash for answer in answers}) == 2


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("server_error", Status.PROVIDER_ERROR),
        ("length", Status.TRUNCATED),
        ("refusal", Status.REFUSED),
        ("filtered", Status.FILTERED),
        ("empty", Status.EMPTY),
        ("context", Status.CONTEXT_OVERFLOW),
        ("", Status.NO_CODE),
    ],
)
async def test_failures_have_their_status(library: Lake, tmp_path: Path, fault: str, status: Status) -> None:
    with running_faulty(FaultyServer()) as address:
        question = replace(QUESTION, text=f"[fault:{fault}] {QUESTION.text}" if fault else QUESTION.text)
        model = entry(f"{address}/v1")
        answer = await perform(SYSTEMS["rag-4"], library, address, tmp_path, question, model=model)
    assert (answer.status, answer.function) == (status, None)
    assert answer.error
    assert answer.status.is_scored == (status is not Status.PROVIDER_ERROR)
    assert answer.retrieved


async def test_prompts_stay_within_a_small_context(library: Lake, serve: Serve, tmp_path: Path) -> None:
    server, address = serve({**AGENTIC_PLAY, "Sketch an answer": ["Use a volume. " * 4000]})
    small = entry(address, context_length=1200)
    answer = await perform(SYSTEMS["agentic-rag"], library, address, tmp_path, model=small)
    assert answer.status is Status.OK
    assert max(count_tokens(body["messages"][0]["content"]) for body in server.bodies) <= 0.75 * (1200 - 256)


@pytest.mark.parametrize(
    ("reply", "scores"),
    [
        ('{"scores": [{"number": 1, "score": 3}, {"number": 1, "score": 9}]}', {1: 3.0}),
        ('```json\n{"scores": [{"number": 3, "score": 1}]}\n```', {3: 1.0}),
        ('{"scores": [{"number": 4, "score": 3}, {"number": true, "score": 1}, {"number": 2, "score": "9"}, 7]}', None),
        ('{"scores": [{"number": 2, "score": NaN}]}', None),
        ("[1, 2, 3]", None),
        ("", None),
        ('{"a":' * 100_000, None),
    ],
)
def test_scores_are_read_or_not(reply: str, scores: dict[int, float] | None) -> None:
    assert read_scores(reply, 3) == scores


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ('{"type": "class", "name": "Lattice"}', "Lattice"),
        ('Sure: {"name": "pymatgen.core.Structure.from_file()"}', "from_file"),
        ('{"name": ["Lattice"]}', None),
        ("Lattice", None),
    ],
)
def test_entities_are_read_or_not(reply: str, name: str | None) -> None:
    assert read_entity(reply) == name
