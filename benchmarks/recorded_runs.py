"""Recorded answers through warm workers beside one fresh container pair a question, as the published harness does it.

    CONDMAT_MATTOOLS=… python -m benchmarks.recorded_runs [--questions 12] [--workers 2]

Takes the answers of the recorded runs to the first questions whose data are at hand. Warm workers verify each in both
modes, as `python -m mattools_assets.recorded` does. The pair verifies in mode `paper` alone: a container for the
function and a later one for its verification, each importing what it needs. The warm workers have two turns, before and
after, since a machine's speed changes. Prints seconds and their ratios; asserts nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from docker.errors import ContainerError

from mattools_assets.questions.answering import ENVIRONMENT, LIMITS
from mattools_assets.questions.published import PublishedQuestion
from mattools_assets.questions.recordings import RecordedAnswer
from mattools_assets.tool_usage.entrants import recorded_runs
from mattools_assets.tool_usage.question_sets import PUBLISHED, ToolUsageError, all_tasks
from mattools_assets.verification import inside
from mattools_assets.verification.published import Mode
from mattools_assets.verification.published import source as verification_source
from mattools_assets.verification.replays import replay
from resources.sandbox import decoding, docker_engine, encoding, environments, launch
from resources.sandbox.selection import open_sandbox
from resources.settings import read_settings

Case = tuple[PublishedQuestion, RecordedAnswer]
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
                found.append((item, answer))
    chosen = list(dict.fromkeys(item.question.id for item, _ in found))[:questions]
    return [case for case in found if case[0].question.id in chosen]


def warm(chosen: list[Case], workers: int) -> float:
    """Seconds that warm workers take, the start of the sandbox included; prints them."""
    questions = {item.question.id: item for item, _ in chosen}
    answers = [answer for _, answer in chosen]
    start = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_sandbox(ENVIRONMENT, read_settings(), LIMITS, workers) as sandbox,
    ):
        rows = [row for row, _, _ in replay(sandbox, questions, [answers], Path(folder))]
    seconds = time.perf_counter() - start
    passed, own = sum(row[Mode.PAPER]["passed"] for row in rows), sum(row["cpu_s"] for row in rows)
    print(
        f"warm workers, {workers} at a time: {seconds:.1f} s; {passed} properties passed; "
        f"the functions alone took {own:.1f} s of processor",
        flush=True,
    )
    return seconds


def fresh_pair(case: Case) -> None:
    """The same by two containers that live for one script each."""
    item, answer = case
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        contents: Mapping[str, bytes | Path] = item.question.files
        for file, data in contents.items():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_bytes(data if isinstance(data, bytes) else data.read_bytes())
        (place / "sandbox_encoding.py").write_bytes((launch.SOURCE / "encoding.py").read_bytes())
        (place / "answer.py").write_text(
            f"{SUBMIT}\n{answer.source}\n\nsubmit({answer.function_name}())\n", encoding="utf-8"
        )
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
    print(f"{len(chosen)} answers")
    before = warm(chosen, options.workers)
    start = time.perf_counter()
    for case in chosen:
        fresh_pair(case)
    pairs = time.perf_counter() - start
    print(f"a fresh container pair each, one after another: {pairs:.1f} s", flush=True)
    after = warm(chosen, options.workers)
    print(f"warm workers take {before / pairs:.2f} and {after / pairs:.2f} of the time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
