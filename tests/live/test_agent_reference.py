"""The row-by-row solver's own code as an agent's script: it scores in the sandbox what it scores outside."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cme_assets.answers import read_strict
from cme_assets.closed_book import ClosedBookProblem
from cme_assets.posing import pose
from cme_assets.problems import DRAWS, EXAMPLES, Sample, add_noise, clean_map, noise_map
from cme_assets.prompts import answer_text
from cme_assets.protocols.agent import Task
from cme_assets.protocols.agent_surroundings import ENVIRONMENT
from cme_assets.protocols.code import run_code
from cme_assets.solvers import ENTRANTS
from cme_assets.stages.judging import judge
from cme_assets.stages.maps import INSTRUMENT
from cme_assets.tasks.catalogue import CATEGORIES
from cme_assets.tasks.category import Category
from resources.agent_limits import AgentLimits
from resources.outcomes import Status
from resources.sandbox import environments, selection
from resources.sandbox.pool import Sandbox
from resources.settings import read_settings
from tests.cme_assets.protocols.performing import run
from tests.cme_assets.protocols.shipped import solver_script
from tests.servers.scripted import ScriptedServer, fenced, running

pytestmark = pytest.mark.live

SIZE = 100
LIMITS = AgentLimits()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """The strongest sandbox that works here."""
    settings = read_settings()
    names = ("docker", "bubblewrap")
    problems = [selection.problem_with(name, environments.environment(ENVIRONMENT), settings) for name in names]
    if all(problems):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("; ".join(map(str, problems)))
    with selection.open_sandbox(ENVIRONMENT, settings, LIMITS.script, workers=1) as box:
        yield box


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[ScriptedServer, str]]:
    scripted = ScriptedServer({})
    with running(scripted) as address:
        yield scripted, address


def first_problem(category: Category) -> ClosedBookProblem:
    """The category's problem at level 0, as published."""
    level, shown = category.levels[0], []
    for draw in range(DRAWS):
        sample = Sample(category, draw, SIZE)
        clean = clean_map(sample, level, INSTRUMENT)
        shown.append((sample, add_noise(clean, noise_map(sample, 0), level).values))
    return pose(category, level, INSTRUMENT, shown)


@pytest.mark.parametrize("category", CATEGORIES.values(), ids=CATEGORIES)
def test_it_scores_inside_what_it_scores_outside(
    category: Category, sandbox: Sandbox, server: tuple[ScriptedServer, str], tmp_path: Path
) -> None:
    problem, question = first_problem(category), Sample(category, EXAMPLES, SIZE)
    scripted, address = server
    scripted.plays = {"": [fenced(solver_script(problem))]}
    inside = asyncio.run(run(run_code, Task(problem, LIMITS), address, tmp_path, sandbox, False))
    outside = answer_text(list(ENTRANTS["reference-rowwise"](problem)))
    assert inside.status is Status.OK, inside.error
    scores = [
        judge(Status.OK, read_strict(reply, problem.wanted), question.truth.tolist(), question.gamma)
        for reply in (inside.reply, outside)
    ]
    assert scores[0].status is Status.OK
    assert scores[0].score == pytest.approx(scores[1].score, abs=1e-3)
