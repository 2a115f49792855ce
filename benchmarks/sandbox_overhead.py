"""What an execution costs: warm workers beside pre-warmed one-use containers and beside cold `docker run`s with import.

    python -m benchmarks.sandbox_overhead [--executions 100] [--cold 3]

The script imports pymatgen and submits a lattice's volume: in a warm worker the import is there already. Per question
the published harness starts two cold containers. Prints a table of medians; asserts nothing.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

from resources.outcomes import Status
from resources.sandbox import docker_engine, environments, selection
from resources.sandbox.limits import Limits
from resources.sandbox.pool import Sandbox
from resources.settings import Settings, read_settings

SCRIPT = "from pymatgen.core import Lattice\nsubmit(Lattice.cubic(4.2).volume)"
COLD = "from pymatgen.core import Lattice; print(Lattice.cubic(4.2).volume)"
ENVIRONMENT = environments.environment("mattools")


def timed(action: Callable[[], object]) -> float:
    """Seconds that `action` takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def checked(sandbox: Sandbox) -> None:
    """One execution that must succeed."""
    execution = sandbox.run(SCRIPT)
    assert execution.status is Status.OK, execution


def warm(backend: str, settings: Settings, executions: int) -> Iterator[float]:
    """Seconds of each execution in one warm worker."""
    chosen = read_settings({"CONDMAT_SANDBOX": backend, "CONDMAT_DATA": str(settings.data)})
    with selection.open_sandbox(ENVIRONMENT.name, chosen, Limits(), workers=1) as sandbox:
        for _ in range(5):
            checked(sandbox)
        for _ in range(executions):
            yield timed(lambda: checked(sandbox))


def one_use(executions: int) -> Iterator[tuple[float, float]]:
    """Seconds of the one execution in a container made ahead, and of making and removing that container."""
    backend = docker_engine.Docker(ENVIRONMENT, Limits())
    for _ in range(executions):
        start = time.perf_counter()
        worker = backend.start()
        worker.wait_until_ready()
        made = time.perf_counter() - start
        execution = timed(lambda worker=worker: worker.execute(SCRIPT.encode(), {}, Limits()))  # type: ignore[misc]
        yield execution, made + timed(worker.close)


def cold(executions: int) -> Iterator[float]:
    """Seconds of a `docker run` that imports pymatgen itself."""
    engine = docker_engine.client()
    image = docker_engine.image_name(ENVIRONMENT)
    command = ["/opt/environment/bin/python", "-c", COLD]
    for _ in range(executions):
        yield timed(lambda: engine.containers.run(image, command, network_mode="none", remove=True))


def main() -> None:
    """Measures what works on this machine and prints it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sandbox_overhead", description=__doc__)
    parser.add_argument("--executions", type=int, default=100)
    parser.add_argument("--cold", type=int, default=3)
    options = parser.parse_args()
    settings = read_settings()
    rows: dict[str, tuple[float, float]] = {}
    for backend in selection.STRONGEST_FIRST:
        problem = selection.problem_with(backend, ENVIRONMENT, settings)
        if problem is not None:
            print(f"{backend}: {problem}")
            continue
        times = sorted(warm(backend, settings, options.executions))
        rows[f"{backend}, warm worker"] = statistics.median(times), times[int(0.95 * len(times))]
        if backend == docker_engine.NAME:
            single = list(one_use(options.cold))
            rows["docker, one-use container: the execution"] = statistics.median(t for t, _ in single), single[-1][0]
            rows["docker, one-use container: making it ahead"] = statistics.median(t for _, t in single), single[-1][1]
            starts = sorted(cold(options.cold))
            rows["docker run, cold, with import"] = statistics.median(starts), starts[-1]
    print(f"{'':46}{'median ms':>12}{'95 % ms':>12}")
    for name, (median, high) in rows.items():
        print(f"{name:46}{1000 * median:12.1f}{1000 * high:12.1f}")
    if "docker run, cold, with import" in rows:
        question = 2 * rows["docker run, cold, with import"][0]
        for backend in selection.STRONGEST_FIRST:
            if f"{backend}, warm worker" in rows:
                ratio = question / (2 * rows[f"{backend}, warm worker"][0])
                print(f"{backend}: two warm executions are {ratio:.0f} times faster than two cold runs")


if __name__ == "__main__":
    main()
