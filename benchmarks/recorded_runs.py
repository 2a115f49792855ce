"""Recorded answers through warm workers beside one fresh container pair a question, as the published harness does it.

    CONDMAT_MATTOOLS=… python -m benchmarks.recorded_runs [--questions 12] [--workers 2]

Takes the answers of the recorded runs to the first questions whose data are at hand, each verified in mode `paper`. The
pair: a container for the function and a later one for its verification, each importing what it needs. Prints seconds
and their ratio; asserts nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from docker.errors import ContainerError

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS, run_answer
from mattools_assets.questions.published import PublishedQuestion
from mattools_assets.tool_usage.entrants import recorded_runs
from mattools_assets.tool_usage.question_sets import PUBLISHED, ToolUsageError, all_tasks
from mattools_assets.verification import inside
from mattools_assets.verification.published import Mode, verify
from mattools_assets.verification.published import source as verification_source
from resources.sandbox import decoding, docker_engine, encoding, environments, launch
from resources.sandbox.pool import Sandbox
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings

Case = tuple[PublishedQuestion, str, str]
"""A question, and the source and name of a function that answers it."""
SUBMIT = """
import sys
sys.path.insert(0, "/scratch")
import sandbox_encoding
def submit(value):
    open("/scratch/answer.json", "wb").write(sandbox_encoding.encode(value))
"""


def cases(questions: int) -> list[Case]:
    """The recorded answers to so many questions, those that hold a function."""
    settings = read_settings()
    tasks = all_tasks(settings)
    found: list[Case] = []
    for run in recorded_runs(settings):
        for answer in run.answers:
            item = tasks[PUBLISHED, answer.question_id].verified
            assert isinstance(item, PublishedQuestion)
            if item.question.data_at_hand and answer.source.strip():
                found.append((item, answer.source, answer.function_name))
    chosen = list(dict.fromkeys(item.question.id for item, _, _ in found))[:questions]
    return [case for case in found if case[0].question.id in chosen]


def warm(sandbox: Sandbox, case: Case) -> int:
    """Properties that passed, by two executions in warm workers."""
    item, source, name = case
    execution = run_answer(sandbox, source, name, item.question.files)
    return verify(sandbox, item, execution, Mode.PAPER).n_passed


def fresh_pair(case: Case) -> None:
    """The same by two containers that live for one script each."""
    item, source, name = case
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        contents: Mapping[str, bytes | Path] = item.question.files
        for file, data in contents.items():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_bytes(data if isinstance(data, bytes) else data.read_bytes())
        (place / "sandbox_encoding.py").write_bytes((launch.SOURCE / "encoding.py").read_bytes())
        (place / "answer.py").write_text(f"{SUBMIT}\n{source}\n\nsubmit({name}())\n", encoding="utf-8")
        _container(place, "answer.py")
        if not (place / "answer.json").exists():
            (place / "answer.json").write_bytes(encoding.encode({}))
        (place / "verification.py").write_text(verification_source(item, Mode.PAPER), encoding="utf-8")
        package = place / "resources" / "sandbox"
        package.mkdir(parents=True)
        (package / "encoding.py").write_bytes((launch.SOURCE / "encoding.py").read_bytes())
        (place / "typed_values.py").write_bytes(Path(decoding.__file__).read_bytes())
        code = Path(inside.__file__).read_text(encoding="utf-8")
        call = f"print(verdict({item.question.id!r}, strict=False))"
        (place / "verify.py").write_text(f"{code}\n\n{call}\n", encoding="utf-8")
        _container(place, "verify.py")


def _container(place: Path, script: str) -> None:
    image = docker_engine.image_name(environments.environment(ENVIRONMENT))
    volumes = {str(place): {"bind": "/scratch", "mode": "rw"}}
    try:
        docker_engine.client().containers.run(
            image,
            ["/opt/environment/bin/python", script],
            network_mode="none",
            remove=True,
            working_dir="/scratch",
            volumes=volumes,
            user="0",
        )
    except ContainerError:
        return  # a function that fails is measured like any other


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recorded_runs", description=__doc__)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    try:
        chosen = cases(options.questions)
    except ToolUsageError as error:
        print(error, file=sys.stderr)
        return 1
    if not chosen:
        print("no recorded runs: set CONDMAT_MATTOOLS to a folder that has them", file=sys.stderr)
        return 1
    start = time.perf_counter()
    with (
        open_sandbox(ENVIRONMENT, read_settings(), LIMITS, options.workers) as sandbox,
        ThreadPoolExecutor(options.workers) as threads,
    ):
        passed = sum(threads.map(lambda case: warm(sandbox, case), chosen))
    pooled, many = time.perf_counter() - start, f"{len(chosen)} answers"
    print(f"{many}, warm workers, {options.workers} at a time: {pooled:.1f} s, {passed} properties passed")
    start = time.perf_counter()
    for case in chosen:
        fresh_pair(case)
    pairs = time.perf_counter() - start
    print(f"{many}, a fresh container pair each, one after another: {pairs:.1f} s")
    print(f"warm workers take {pooled / pairs:.2f} of the time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
