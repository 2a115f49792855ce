"""Each system once with a small real model: it knows nothing, but whatever it says has a way on and a status."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mattools_assets.questions.answering import run_answer
from mattools_assets.questions.own import own_questions, verify
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.tool_usage.runs import kept_runs
from resources.lake import Lake
from resources.llm.retry import RetryPolicy
from resources.local_model import CONTEXT, NAME, LocalModelError, serving
from resources.model_entry import Capabilities, ModelEntry, Parameters
from resources.outcomes import Status
from resources.settings import read_settings
from tests.mattools_assets.systems.performing import all_in_ledger, ledger_rows, perform, small_library

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1800)]

# Replies are cut short, so that the hundred or so of them take minutes on two processors.
MOST_TOKENS = 32
# Enough for a function.
WHOLE_TOKENS = 300
PATIENT = RetryPolicy(try_seconds=900)


def missing(reason: str) -> None:
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    try:
        with serving() as address:
            yield address
    except LocalModelError as error:
        missing(str(error))


def small_model(address: str, most_tokens: int) -> ModelEntry:
    return ModelEntry(
        name=NAME,
        provider="openai_compatible",
        model=NAME,
        base_url=address,
        free=True,
        context_length=CONTEXT,
        max_concurrency=2,
        capabilities=Capabilities(token_cap="max_tokens", tools=False),
        parameters=Parameters(temperature=0.7, seed=1, max_output_tokens=most_tokens),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return small_library(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize("name", SYSTEMS)
async def test_every_answer_has_a_status(name: str, address: str, library: Lake, tmp_path: Path) -> None:
    system = SYSTEMS[name]
    if system.package and importlib.util.find_spec(system.package) is None:
        missing(system.mend)
    model = small_model(address, MOST_TOKENS)
    with kept_runs(read_settings({**os.environ, "CONDMAT_DATA": str(tmp_path)})) as runs:
        answer = await perform(
            system,
            library,
            address,
            tmp_path,
            model=model,
            policy=PATIENT,
            runs=runs,
            workspace=tmp_path / "index",
        )
    print(f"{name}: {answer.status}, {len(answer.asked)} requests, {answer.error}")
    assert answer.status.is_scored, answer.error
    assert (answer.function is not None) == (answer.status is Status.OK)
    fewest, most = system.requests
    assert 1 <= len(answer.asked) <= most
    if answer.status is Status.OK:
        assert len(answer.asked) >= fewest
    assert all_in_ledger(answer, tmp_path)
    assert {each.status for each in answer.asked} <= {Status.OK, Status.TRUNCATED, Status.EMPTY}
    assert len(ledger_rows(tmp_path)) >= len({each.request_hash for each in answer.asked})


@pytest.mark.parametrize("name", ["single", "rag-4"])
async def test_a_question_of_ours_ends_in_a_verdict(name: str, address: str, library: Lake, tmp_path: Path) -> None:
    """With replies long enough for a function: question, system, model, execution, verification."""
    own = next(each for each in own_questions() if each.question.id == "rock-salt")
    with kept_runs(read_settings({**os.environ, "CONDMAT_DATA": str(tmp_path)})) as runs:
        answer = await perform(
            SYSTEMS[name],
            library,
            address,
            tmp_path,
            own.question,
            model=small_model(address, WHOLE_TOKENS),
            policy=PATIENT,
            runs=runs,
        )
        function = answer.function
        source, called = (function.source, function.name) if function else ("", "")
        execution = run_answer(runs, source, called, own.question.files)
    verdict = verify(execution.result, own.properties)
    print(f"{name}: {answer.status}, {execution.status}, {verdict.n_passed} of {len(own.properties)}\n{source}")
    assert answer.status.is_scored, answer.error
    assert execution.status.is_scored, execution.detail
    assert [each.name for each in verdict.properties] == [each.name for each in own.properties]
    assert all_in_ledger(answer, tmp_path)
