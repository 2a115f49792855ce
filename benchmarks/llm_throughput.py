"""Throughput and CPU of the ledgered client against a bare loop over the official kit, in the same run.

5,000 four-option questions, 64 connections, a local server that takes 50 ms: `python -m benchmarks.llm_throughput`.
The two take turns, and medians are compared, since another load on the machine falls on both. Ours includes the
ledger, the reading of the reply and the scoring of the letter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web
from openai import AsyncOpenAI, DefaultAioHttpClient

from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.model_entry import ModelEntry, Parameters

CONNECTIONS = 64
LATENCY_SECONDS = 0.05
LETTER = re.compile(r"\b([ABCD])\b")


def question(number: int) -> str:
    """A four-option question of the usual length."""
    return (
        f"Question {number}. What does `Structure.get_neighbors` return for a site whose radius holds no other site?\n"
        "A. An empty list\nB. None\nC. The site itself\nD. It raises a ValueError\n"
        "Answer with the letter of the one right option and nothing else."
    )


def serve(port: int) -> None:
    """A chat completions endpoint that answers `A` after the latency."""
    usage = {"prompt_tokens": 70, "completion_tokens": 1, "total_tokens": 71}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}
    body = json.dumps(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    ).encode()

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(LATENCY_SECONDS)
        return web.Response(body=body, content_type="application/json")

    app = web.Application(client_max_size=2**30)
    app.router.add_post("/v1/chat/completions", answer)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


async def bare(port: int, count: int) -> int:
    """The shortest loop that one would write; returns the number of right letters."""
    client = AsyncOpenAI(
        api_key="none", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0, http_client=DefaultAioHttpClient()
    )
    places = asyncio.Semaphore(CONNECTIONS)

    async def one(number: int) -> bool:
        async with places:
            reply = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": question(number)}], temperature=0.7, max_tokens=16
            )
        return is_right(reply.choices[0].message.content or "")

    right = sum(await asyncio.gather(*(one(number) for number in range(count))))
    await client.close()
    return right


async def ledgered(port: int, count: int, ledger: Ledger) -> int:
    """The same through the project's client."""
    entry = ModelEntry(
        name="mock",
        provider="openai_compatible",
        model="m",
        base_url=f"http://127.0.0.1:{port}/v1",
        free=True,
        max_concurrency=CONNECTIONS,
        parameters=Parameters(temperature=0.7, max_output_tokens=16),
    )
    requests = (ChatRequest([{"role": "user", "content": question(number)}]) for number in range(count))
    return sum([is_right(answer.text) async for answer in ask_all(requests, entry, ledger, {})])


def is_right(text: str) -> bool:
    """Score one letter."""
    found = LETTER.search(text)
    return found is not None and found.group(1) == "A"


@contextmanager
def server(port: int) -> Iterator[None]:
    """The server in a process of its own, so that its CPU is not counted."""
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(port,), daemon=True)
    process.start()
    asyncio.run(_until_up(port))
    try:
        yield
    finally:
        process.terminate()
        process.join()


async def _until_up(port: int) -> None:
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise RuntimeError("the mock server did not come up")


def measure(name: str, port: int, count: int, folder: Path) -> tuple[float, float]:
    """Questions a second, and CPU seconds per 1,000."""
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    if name == "bare":
        right = asyncio.run(bare(port, count))
    else:
        with Ledger(f"sqlite:///{folder / f'{time.monotonic_ns()}.sqlite'}") as ledger:
            right = asyncio.run(ledgered(port, count, ledger))
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert right == count, f"{name}: {right} of {count} answered"
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return count / seconds, 1000 * cpu / count


def main() -> None:
    """Print one line a round and the ratio of the medians."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.llm_throughput", description=__doc__)
    parser.add_argument("--count", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=18_099)
    options = parser.parse_args()
    results: dict[str, list[tuple[float, float]]] = {"bare": [], "ledgered": []}
    with server(options.port), tempfile.TemporaryDirectory() as folder:
        for name in results:  # imports and first connections
            measure(name, options.port, 200, Path(folder))
        for _ in range(options.rounds):
            for name, found in results.items():
                found.append(measure(name, options.port, options.count, Path(folder)))
                print(f"{name:9s} {found[-1][0]:7.0f} questions/s {found[-1][1]:6.2f} CPU s per 1,000", flush=True)
    speed, cpu = ({n: statistics.median(r[i] for r in rs) for n, rs in results.items()} for i in (0, 1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"throughput {speed['ledgered'] / speed['bare']:.2f} of the bare loop's (aim: at least 0.85)")
    print(f"CPU {cpu['ledgered'] / cpu['bare']:.2f} of the bare loop's (aim: at most 1.25); peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
