"""What tool usage is said to cost beside what is then asked of a server of the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from mattools_assets.systems.agentic import AGENTIC
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.systems.graph import GRAPH, READING
from mattools_assets.systems.opening import Place
from mattools_assets.systems.sources import OBJECT_DOCS, make_chunks
from mattools_assets.tool_usage.entrants import Evaluation
from mattools_assets.tool_usage.estimate import ASSUMED_PASSAGE, Passages, ToolEstimate, tool_estimates
from mattools_assets.tool_usage.evaluating import answers_of
from mattools_assets.tool_usage.freshness import ANSWERS_VERSION
from mattools_assets.tool_usage.question_sets import Task
from mattools_assets.tool_usage.tables import TOOL_ANSWERS
from resources.lake import Lake
from resources.llm.estimate import Estimate
from resources.llm.ledger import Ledger
from resources.llm.tokens import prompt_tokens
from resources.registry import load_registry
from resources.retrieval.tables import RETRIEVAL_CHUNKS
from resources.settings import read_settings
from resources.tokens import count_tokens
from tests.mattools_assets.systems.performing import replied, small_library
from tests.mattools_assets.tool_usage.conftest import done, keep, right_answer
from tests.servers.scripted import ScriptedServer, Turn, running

Tasks = dict[tuple[str, str], Task]
REPLY = 100


@pytest.fixture
def server(tasks: Tasks) -> Iterator[tuple[ScriptedServer, str]]:
    """A right function, one that leaves all None, and an apology."""
    right, none, unknown = tasks.values()
    plays = {first_line(task): [Turn(replied(task.reference.source, task.reference.name))] for task in (right, none)}
    scripted = ScriptedServer({**plays, first_line(unknown): [Turn("I am sorry.")]})
    with running(scripted) as address:
        yield scripted, address


def first_line(task: Task) -> str:
    return task.question.text.splitlines()[0]


def place_with(folder: Path, address: str, **more: Any) -> Place:
    """A model behind the server, and the documents of a small library as the assets would have made them."""
    entry = {"name": "small", "provider": "openai_compatible", "model": "small", "base_url": address, "free": True}
    folder.mkdir(exist_ok=True)
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump({"models": [entry | {"protocols": ["tools"]} | more]}))
    settings = read_settings({"CONDMAT_DATA": str(folder), "CONDMAT_MODELS": str(path), "CONDMAT_EMBEDDER": "bm25"})
    small_library(folder)
    place = Place(Lake(settings.lake), settings, load_registry(path))
    chunks = make_chunks(place.means, OBJECT_DOCS).rows
    place.lake.write(RETRIEVAL_CHUNKS, {"source": OBJECT_DOCS}, chunks, place.chunks_note(OBJECT_DOCS) or {})
    return place


def estimated(place: Place, tasks: Tasks) -> dict[str, Estimate | ToolEstimate | str]:
    with Ledger(place.settings.ledger_url) as ledger:
        return dict(tool_estimates(place, place.registry["small"], tasks, ledger, Passages(place.lake), REPLY))


def keep_executions(place: Place, tasks: Tasks) -> None:
    """What the functions do, so that no sandbox is needed: the first right, the second without any value."""
    right, none, _ = tasks.values()
    for task, result in ((right, right_answer(right)), (none, dict.fromkeys(none.question.properties))):
        keep(place.settings.data, task, task.reference.source, task.reference.name, done(result))


def asked(place: Place, tasks: Tasks, system: str, server: ScriptedServer) -> list[int]:
    """The tokens of each prompt that the server got, once the answers are in the lake."""
    before, evaluation = len(server.bodies), Evaluation("small", system)
    made = answers_of(evaluation, place.lake, place.settings, place.registry, tasks, lambda *_: None)
    place.lake.write(TOOL_ANSWERS, evaluation.key, made.rows, {"code_version": ANSWERS_VERSION})
    return [prompt_tokens(body) for body in server.bodies[before:]]


def test_what_is_asked_is_what_was_said_or_between(
    tmp_path: Path, tasks: Tasks, server: tuple[ScriptedServer, str]
) -> None:
    scripted, address = server
    systems = ["single", "rag-4", "reflection"]
    place = place_with(tmp_path, address, systems=systems, repeats=2)
    keep_executions(place, tasks)
    said = estimated(place, tasks)
    prompts = {system: asked(place, tasks, system, scripted) for system in systems}
    # Reflection begins with the request of rag-4, which the ledger has by then.
    assert [len(each) for each in prompts.values()] == [6, 6, 2 * (0 + 8 + 4)]

    single, rag, reflection = (said[system] for system in systems)
    assert isinstance(single, Estimate)
    assert (single.requests, single.prompt_tokens) == (len(prompts["single"]), sum(prompts["single"]))
    assert single.completion_tokens == 6 * REPLY
    assert isinstance(rag, ToolEstimate)
    assert rag.shortest == rag.longest
    # The library has fewer documents than are retrieved, so that all are shown and their mean is exact.
    assert rag.shortest.requests == len(prompts["rag-4"])
    assert rag.shortest.prompt_tokens == pytest.approx(sum(prompts["rag-4"]), rel=0.02)
    assert isinstance(reflection, ToolEstimate)
    assert (reflection.shortest.requests, reflection.longest.requests) == (0, 6 * 8)
    assert sum(prompts["reflection"]) <= reflection.longest.prompt_tokens
    assert "0 to 48 requests (the first to each question is that of rag-4), about " in str(reflection)

    assert {system: str(each) for system, each in estimated(place, tasks).items()} == {
        "single": "small: nothing to ask; 6 requests are answered already",
        "rag-4": "small: nothing to ask; 6 answers are there already",
        "reflection": "small: nothing to ask; 6 answers are there already",
    }


def test_reflection_alone_asks_its_first_request_itself(
    tmp_path: Path, tasks: Tasks, server: tuple[ScriptedServer, str]
) -> None:
    scripted, address = server
    place = place_with(tmp_path, address, systems=["reflection"])
    keep_executions(place, tasks)
    (said,) = estimated(place, tasks).values()
    prompts = asked(place, tasks, "reflection", scripted)
    assert isinstance(said, ToolEstimate)
    assert (said.shortest.requests, len(prompts), said.longest.requests) == (3, 1 + 9 + 5, 3 * 9)
    assert said.shortest.prompt_tokens <= sum(prompts) <= said.longest.prompt_tokens


def test_other_documents_open_all_answers_that_were_found_in_them(
    tmp_path: Path, tasks: Tasks, server: tuple[ScriptedServer, str]
) -> None:
    place = place_with(tmp_path, server[1], systems=["rag-4"])
    asked(place, tasks, "rag-4", server[0])
    chunks = place.lake.read(RETRIEVAL_CHUNKS, {"source": OBJECT_DOCS})
    place.lake.write(RETRIEVAL_CHUNKS, {"source": OBJECT_DOCS}, chunks, {"code_version": "of another day"})
    (found,) = estimated(place, tasks).values()
    assert isinstance(found, ToolEstimate)
    assert (found.shortest.requests, found.answered) == (3, 0)


def test_dollars_of_the_shortest_and_the_longest_way(tmp_path: Path, tasks: Tasks) -> None:
    prices = [{"since": "2020-01-01", "input": 10.0, "output": 100.0}]
    paid = {"free": False, "key_env": "KEY_THAT_IS_NOT_SET", "systems": ["agentic-rag"]}
    place = place_with(tmp_path, "http://127.0.0.1:9/v1", **paid, prices=prices)
    (found,) = estimated(place, tasks).values()
    assert isinstance(found, ToolEstimate)
    assert (found.shortest.requests, found.longest.requests) == (3 * 9, 3 * 45)
    assert found.expected is not None
    for bound, usd in zip((found.shortest, found.longest), found.expected, strict=True):
        assert bound.completion_tokens == bound.requests * REPLY
        assert usd == pytest.approx((bound.prompt_tokens * 10 + bound.completion_tokens * 100) / 1e6)
    assert str(found).startswith("small: 27 to 135 requests, about ")
    assert f" to {found.longest.prompt_tokens:,} prompt and 2,700 to 13,500 reply tokens, $" in str(found)
    unpriced = place_with(tmp_path / "again", "http://127.0.0.1:9/v1", **paid)
    (found,) = estimated(unpriced, tasks).values()
    assert isinstance(found, ToolEstimate)
    assert found.expected is None
    assert str(found).endswith("at an unknown price (none in models.yaml)")


def test_one_request_that_another_system_makes_is_nothing_to_ask(tmp_path: Path, tasks: Tasks) -> None:
    place = place_with(tmp_path, "http://127.0.0.1:9/v1", systems=["reflection", "rag-4"])
    reflection, rag = map(str, estimated(place, tasks).values())
    assert rag == "small: nothing to ask; the first to each question is that of reflection"
    assert reflection.startswith("small: 3 to 27 requests, about ")
    assert reflection.endswith(" reply tokens, at no cost")


def test_what_cannot_work_here_is_a_line_and_no_cost(tmp_path: Path, tasks: Tasks) -> None:
    place = place_with(tmp_path, "http://127.0.0.1:9/v1", systems=["rag-2", "single"])
    found = estimated(place, tasks)
    assert str(found["rag-2"]).startswith("official-docs: left out; set CONDMAT_OFFICIAL_DOCS")
    assert isinstance(found["single"], Estimate)


def test_documents_are_read_once_for_a_graph(tmp_path: Path, tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    # The package itself is not needed to say what it would ask.
    monkeypatch.setitem(SYSTEMS, GRAPH.name, replace(GRAPH, package=""))
    place = place_with(tmp_path, "http://127.0.0.1:9/v1", systems=[GRAPH.name], repeats=2)
    texts = place.lake.read(RETRIEVAL_CHUNKS, {"source": OBJECT_DOCS}, ["title", "text"]).to_pylist()
    (found,) = estimated(place, tasks).values()
    assert isinstance(found, ToolEstimate)
    assert (found.shortest.requests, found.reading) == (3 * 2 * 2 + len(texts), len(texts))
    (without,) = estimated(place, {}).values()
    assert isinstance(without, ToolEstimate)
    assert (without.shortest.requests, without.reading) == (0, 0)
    tokens = sum(READING + count_tokens(f"{each['title']}\n{each['text']}") for each in texts)
    monkeypatch.setitem(SYSTEMS, GRAPH.name, replace(GRAPH, package="", reading=0))
    (questions,) = estimated(place, tasks).values()
    assert isinstance(questions, ToolEstimate)
    assert found.shortest.prompt_tokens - questions.shortest.prompt_tokens == pytest.approx(tokens, abs=len(texts))


def test_documents_that_are_not_there_are_assumed(tmp_path: Path, tasks: Tasks) -> None:
    place = place_with(tmp_path, "http://127.0.0.1:9/v1", systems=["single", "rag-4"])
    empty = Place(Lake(tmp_path / "empty"), place.settings, place.registry)
    passages = Passages(empty.lake)
    with Ledger(place.settings.ledger_url) as ledger:
        found = dict(tool_estimates(empty, place.registry["small"], tasks, ledger, passages, REPLY))
    single, rag = found["single"], found["rag-4"]
    assert isinstance(single, Estimate)
    assert isinstance(rag, ToolEstimate)
    assert rag.shortest.prompt_tokens - single.prompt_tokens >= 3 * 5 * ASSUMED_PASSAGE
    assert passages.notes() == ["object-docs: not in the lake yet; 250 tokens a passage assumed"]


def test_the_longest_way_of_agentic_retrieval_holds_all_that_was_found() -> None:
    # Ten rankings of 20 chunks, a draft of as many; ten of 30 documents, ten of as much code; ten functions from both.
    assert sum(AGENTIC.longest) == 10 * 20 + 20 + 10 * 30 + 10 * 30 + 10 * 60
