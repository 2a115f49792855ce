"""Memory, room and resuming of the ledgered client: `python -m benchmarks.llm_scale`.

* 190 prompts of 400 KB, three times each, against a local server: what the repeats add to the ledger, and peak memory;
* a finished evaluation of 69,225 questions: how long a second run takes, and that its memory does not grow with it.

Each is measured in a process of its own, as peak memory never falls.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from benchmarks.llm_throughput import question, server
from resources.arguments import take_none
from resources.llm.budget import Budget
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.owner import new_owner
from resources.llm.records import Attempt, Exchange, Opening, Settlement
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.llm.storing import parts
from resources.llm.usage import Usage
from resources.model_entry import ModelEntry, Parameters
from resources.outcomes import Status

PORT = 18_098
QUESTIONS = 69_225
PROMPTS, PROMPT_CHARACTERS = 190, 400_000
REPLY = orjson.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}],
        "usage": {"prompt_tokens": 70, "completion_tokens": 1},
    }
)


def entry() -> ModelEntry:
    """The mock's entry."""
    return ModelEntry(
        name="mock",
        provider="openai_compatible",
        model="m",
        base_url=f"http://127.0.0.1:{PORT}/v1",
        free=True,
        max_concurrency=64,
        parameters=Parameters(temperature=0.7, max_output_tokens=16),
    )


def questions(count: int) -> Iterator[ChatRequest]:
    """Four-option questions."""
    return (ChatRequest([{"role": "user", "content": question(number)}]) for number in range(count))


def long_prompts(repeats: int) -> Iterator[ChatRequest]:
    """Tables of intensities, each prompt drawn by its own seed."""
    for number in range(PROMPTS):
        chance = random.Random(number)
        table = "\t".join(str(chance.randrange(1000)) for _ in range(PROMPT_CHARACTERS // 4))[:PROMPT_CHARACTERS]
        for repeat in range(repeats):
            yield ChatRequest([{"role": "user", "content": table}], repeat=repeat)


def ask_long(path: Path, repeats: int) -> None:
    """Ask the long prompts."""
    before = size(path)
    count, seconds = asyncio.run(_ask(path, long_prompts(repeats)))
    print(
        f"{count} requests of 400 KB, {repeats} a prompt: {seconds:.1f} s, the ledger grew by "
        f"{(size(path) - before) / 1e6:.2f} MB, peak memory {peak():.0f} MiB",
        flush=True,
    )


def fill(path: Path, count: int) -> None:
    """Store an evaluation as if it had been asked."""
    with Ledger(f"sqlite:///{path}") as ledger:
        client, owner, budget = Client(entry(), ledger, {}), new_owner(), Budget("fill")
        reply = Attempt(1.0, 2.0, Status.OK, http_status=200, response=REPLY, usage=Usage(70, None, None, 1, None))
        for part in parts((client.wire(request) for request in questions(count)), 1_000):
            ledger.exchange(owner, Exchange([], [Opening(wire) for wire in part]), budget)
            settlements = [Settlement(wire.hash, reply, Status.OK) for wire in part]
            ledger.exchange(owner, Exchange(settlements, []), budget)


def resume(path: Path, count: int) -> None:
    """Run a finished evaluation again: no server is there, so that nothing can be asked."""
    used = time.process_time()
    found, seconds = asyncio.run(_ask(path, questions(count)))
    used = time.process_time() - used
    print(f"resuming {found} answered: {seconds:.1f} s ({used:.1f} s CPU), peak memory {peak():.0f} MiB", flush=True)


async def _ask(path: Path, requests: Iterator[ChatRequest]) -> tuple[int, float]:
    started = time.perf_counter()
    count = 0
    with Ledger(f"sqlite:///{path}") as ledger:
        async for answer in ask_all(requests, entry(), ledger, {}):
            assert answer.status is Status.OK, answer.error
            count += 1
    return count, time.perf_counter() - started


def size(path: Path) -> int:
    """Bytes of the ledger and its log."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


def peak() -> float:
    """Peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(work: Callable[[Path, int], None], path: Path, count: int) -> None:
    """Run `work` in a fresh process."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=(path, count))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{work.__name__} failed")


def main() -> None:
    """Print one line a measurement."""
    take_none("benchmarks.llm_scale", __doc__)
    with tempfile.TemporaryDirectory() as folder:
        with server(PORT):
            for repeats in (1, 3):
                apart(ask_long, Path(folder) / "long.sqlite", repeats)
        for count in (QUESTIONS // 4, QUESTIONS):
            apart(fill, Path(folder) / "questions.sqlite", count)
            apart(resume, Path(folder) / "questions.sqlite", count)


if __name__ == "__main__":
    main()
